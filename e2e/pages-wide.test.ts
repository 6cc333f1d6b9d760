import { testPages } from './pages.ts'
import { inEveryWindow } from './windows.ts'

testPages([
  { colorScheme: 'dark', width: 1280, locale: 'en-GB' },
  ...inEveryWindow({ colorScheme: 'light', width: 1280, locale: 'en-GB' }),
])
