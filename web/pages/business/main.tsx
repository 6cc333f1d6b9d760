import { renderPage, LocaleProvider } from '../../components/frame/Root.tsx'
import '../../components/display/copies.css'
import '../../components/display/disclosure.css'
import '../../components/display/entries.css'
import '../../components/display/sections.css'
import './business.css'
import { OrganizationsApp } from './Business.tsx'
import { useBusinessMessages } from './words.ts'

await renderPage(() => (
  <LocaleProvider refused={useBusinessMessages().refused}>
    <OrganizationsApp />
  </LocaleProvider>
))
