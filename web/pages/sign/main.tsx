import { showKeyNotices } from '../../components/keys/key-notices.ts'
import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/display/exact-text.css'
import '../../components/signature/sign-bar.css'
import './sign.css'
import { Sign } from './Sign.tsx'

showKeyNotices()
await renderPage(Sign)
