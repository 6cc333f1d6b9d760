import { renderPage } from '../../components/frame/Root.tsx'
import './business.css'
import { OrganizationsApp } from './Business.tsx'

await renderPage(OrganizationsApp)
