import { renderPage } from '../../components/frame/Root.tsx'
import { ErrorPage } from './Fault.tsx'

await renderPage(ErrorPage)
