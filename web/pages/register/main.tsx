import { showKeyNotices } from '../../components/keys/key-notices.ts'
import { renderPage } from '../../components/frame/Root.tsx'
import { Register } from './Register.tsx'

showKeyNotices()
await renderPage(Register)
