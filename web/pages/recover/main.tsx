import { renderPage } from '../../components/frame/Root.tsx'
import { Recover } from './Recover.tsx'

await renderPage(Recover)
