/** How somebody looks at a page. */
export type Window = { colorScheme: 'light' | 'dark'; width: number; locale: string }

/** A window whose scheme and width others have too: with `EVERY_WINDOW` set the pages are seen in it as well. */
export function inEveryWindow(window: Window): Window[] {
  return process.env['EVERY_WINDOW'] ? [window] : []
}
