import { renderPage, LocaleProvider } from '../../components/frame/Root.tsx'
import './business.css'
import { OrganizationsApp } from './Business.tsx'
import { useBusinessMessages } from './words.ts'

await renderPage(() => (
  <LocaleProvider refused={useBusinessMessages().refused}>
    <OrganizationsApp />
  </LocaleProvider>
))
