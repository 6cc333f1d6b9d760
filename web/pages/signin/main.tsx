import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/form/choices.css'
import './signin.css'
import { SignIn } from './SignIn.tsx'

await renderPage(SignIn)
