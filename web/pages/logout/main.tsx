import { renderPage } from '../../components/frame/Root.tsx'
import { Logout } from './Logout.tsx'

await renderPage(Logout)
