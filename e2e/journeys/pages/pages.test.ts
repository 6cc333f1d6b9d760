import { testPages } from '../../pages/pages.ts'
import { forEachViewport, windowOfAll } from '../../fixtures/windows.ts'

testPages([
  windowOfAll,
  ...forEachViewport({ colorScheme: 'light', width: 360, locale: 'en-GB' }),
  ...forEachViewport({ colorScheme: 'dark', width: 360, locale: 'en-GB' }),
  ...forEachViewport({ colorScheme: 'light', width: 1280, locale: 'en-GB' }),
  ...forEachViewport({ colorScheme: 'dark', width: 1280, locale: 'en-GB' }),
  ...forEachViewport({ colorScheme: 'light', width: 360, locale: 'de-DE' }),
  ...forEachViewport({ colorScheme: 'light', width: 360, locale: 'ar-EG' }),
])
