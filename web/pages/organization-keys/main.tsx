import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/display/entries.css'
import { OrganizationKeys } from './OrganizationKeys.tsx'

await renderPage(OrganizationKeys)
