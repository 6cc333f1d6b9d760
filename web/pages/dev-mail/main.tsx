import { renderPage } from '../../components/frame/Root.tsx'
import { DevMail } from './DevMail.tsx'

await renderPage(DevMail)
