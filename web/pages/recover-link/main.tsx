import { renderPage } from '../../components/frame/Root.tsx'
import { RecoverLink } from './RecoverLink.tsx'

await renderPage(RecoverLink)
