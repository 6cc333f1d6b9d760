import { showKeyNotices } from '../../components/keys/key-notices.ts'
import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/display/entries.css'
import '../../components/display/exact-text.css'
import '../../components/display/sections.css'
import './account.css'
import { Account } from './Account.tsx'

showKeyNotices()
await renderPage(Account)
