import type { pictureMessages as english } from '../../en/pages/pictures.ts'

/** Holds the German messages of the editor of pictures. */
export const pictureMessages: typeof english = {
  upload: 'Bild hochladen',
  change: 'Bild ändern',
  remove: 'Entfernen',
  hint: 'PNG, JPEG oder WebP. Den Ausschnitt wählst du danach. Du kannst eine Datei auch hier ablegen.',
  title: 'Ausschnitt wählen',
  part: 'Ausschnitt des Bildes',
  howTo: 'Zieh das Bild, tippe auf den Punkt für die Mitte, oder verwende die Pfeiltasten.',
  zoom: 'Zoom',
  zoomIs: (percent: number) => `${percent}\u00a0%`,
  preview: 'So erscheint es:',
  save: 'Bild speichern',
  saved: 'Bild gespeichert',
  removed: 'Bild entfernt',
  color: 'Farbe',
  colorHint: 'Schmückt die Zustimmungsseite unter dem Logo. Text erscheint nie in dieser Farbe.',
  noColor: 'Keine',
  colorSaved: 'Farbe gespeichert',
  problems: {
    unreadable: 'Dein Browser kann diese Datei nicht öffnen. Wähle ein Bild als PNG, JPEG oder WebP.',
    tooSmall: 'Dieses Bild ist zu klein. Wähle eines mit mindestens 64\u00a0×\u00a064\u00a0Pixeln.',
    tooLarge: 'Diese Datei ist zu groß. Wähle ein Bild mit höchstens 30\u00a0MB.',
  },
}
