/** Holds the messages of the editor of pictures. They load with it only. */
export const pictureMessages = {
  upload: 'Upload a picture',
  change: 'Change picture',
  remove: 'Remove',
  hint: 'PNG, JPEG or WebP. You choose the part next. You can also drop a file here.',
  title: 'Choose the part to show',
  /** Names the picture that the keyboard moves. */
  part: 'Part of the picture',
  howTo: 'Drag the picture, tap the point to center, or use the arrow keys.',
  zoom: 'Zoom',
  zoomIs: (percent: number) => `${percent} %`,
  preview: 'This is how it appears:',
  save: 'Save picture',
  saved: 'Picture saved',
  removed: 'Picture removed',
  color: 'Color',
  colorHint: 'An ornament of the consent page, below the logo. No text is written in it.',
  noColor: 'None',
  colorSaved: 'Color saved',
  problems: {
    unreadable: 'Your browser can’t open this file. Choose a PNG, JPEG or WebP picture.',
    tooSmall: 'This picture is too small. Choose one of at least 64 × 64 pixels.',
    tooLarge: 'This file is too large. Choose a picture of at most 30 MB.',
  },
}
