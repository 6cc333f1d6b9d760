import { showKeyNotices } from '../../components/keys/key-notices.ts'
import { renderPage } from '../../components/frame/Root.tsx'
import { Recover } from './Recover.tsx'

showKeyNotices()
await renderPage(Recover)
