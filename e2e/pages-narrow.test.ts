import { testPages } from './pages.ts'
import { inEveryWindow } from './windows.ts'

/** The narrowest is also what a window of 640 shows at 200 % zoom (WCAG 2.2 §1.4.10), and German has longer words. */
testPages([
  { colorScheme: 'light', width: 320, locale: 'de-DE' },
  ...inEveryWindow({ colorScheme: 'light', width: 360, locale: 'en-GB' }),
  ...inEveryWindow({ colorScheme: 'dark', width: 360, locale: 'en-GB' }),
])
