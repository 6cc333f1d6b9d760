import { testPages } from './pages.ts'

testPages([
  { colorScheme: 'light', width: 1280, locale: 'en-GB' },
  { colorScheme: 'dark', width: 1280, locale: 'en-GB' },
])
