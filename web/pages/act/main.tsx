import { useBusinessMessages } from './words.ts'
import { renderPage, LocaleProvider } from '../../components/frame/Root.tsx'
import '../../components/display/exact-text.css'
import { SignActionPage } from './Act.tsx'

await renderPage(() => (
  <LocaleProvider refused={useBusinessMessages().refused}>
    <SignActionPage />
  </LocaleProvider>
))
