import { showKeyNotices } from '../../components/keys/key-notices.ts'
import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/display/exact-text.css'
import './account.css'
import { Account } from './Account.tsx'

showKeyNotices()
await renderPage(Account)
