import { renderPage } from '../../components/frame/Root.tsx'
import './admin.css'
import { Admin } from './Admin.tsx'

await renderPage(Admin)
