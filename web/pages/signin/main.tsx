import { showKeyNotices } from '../../components/keys/key-notices.ts'
import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/form/choices.css'
import './signin.css'
import { SignIn } from './SignIn.tsx'

showKeyNotices()
await renderPage(SignIn)
