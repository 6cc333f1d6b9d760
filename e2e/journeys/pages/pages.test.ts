import { testPages } from '../../pages/pages.ts'
import { inEveryWindow, windowOfAll } from '../../fixtures/windows.ts'

testPages([
  windowOfAll,
  ...inEveryWindow({ colorScheme: 'light', width: 360, locale: 'en-GB' }),
  ...inEveryWindow({ colorScheme: 'dark', width: 360, locale: 'en-GB' }),
  ...inEveryWindow({ colorScheme: 'light', width: 1280, locale: 'en-GB' }),
  ...inEveryWindow({ colorScheme: 'dark', width: 1280, locale: 'en-GB' }),
])
