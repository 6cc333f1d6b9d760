import { showKeyNotices } from '../../components/keys/key-notices.ts'
import { renderPage } from '../../components/frame/Root.tsx'
import './signin.css'
import { SignIn } from './SignIn.tsx'

showKeyNotices()
await renderPage(SignIn)
