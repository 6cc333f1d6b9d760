/** How a page is shown. */
export type Appearance = { colorScheme: 'light' | 'dark'; width: number }

/** How somebody looks at a page. With `also`, each page is turned to that for a second look, and back. */
export type Window = Appearance & { locale: string; also?: Appearance }

/**
 * The narrowest is also what a window of 640 shows at 200 % zoom (WCAG 2.2 §1.4.10), and German has longer words; the
 * widest differs in all that can.
 */
export const windowOfAll: Window = {
  ...{ colorScheme: 'light', width: 320, locale: 'de-DE' },
  also: { colorScheme: 'dark', width: 1280 },
}

/** A window whose scheme and width others have too: with `EVERY_WINDOW` set the pages are seen in it as well. */
export function inEveryWindow(window: Window): Window[] {
  return process.env['EVERY_WINDOW'] ? [window] : []
}
