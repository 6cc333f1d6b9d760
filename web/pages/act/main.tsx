import { showKeyNotices } from '../../components/keys/key-notices.ts'
import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/display/exact-text.css'
import '../../components/signature/sign-bar.css'
import './act.css'
import { SignActionPage } from './Act.tsx'

showKeyNotices()
await renderPage(SignActionPage)
