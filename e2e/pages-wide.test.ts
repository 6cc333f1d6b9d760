import { inEveryWindow, testPages } from './pages.ts'

testPages([
  { colorScheme: 'dark', width: 1280, locale: 'en-GB' },
  ...inEveryWindow({ colorScheme: 'light', width: 1280, locale: 'en-GB' }),
])
