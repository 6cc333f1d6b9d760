import { renderPage } from '../../components/frame/Root.tsx'
import { Return } from './Return.tsx'

await renderPage(Return)
