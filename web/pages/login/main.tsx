import { renderPage } from '../../components/frame/Root.tsx'
import { Login } from './Login.tsx'

await renderPage(Login)
