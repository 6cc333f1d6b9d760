import { drawPage } from '../../components/frame/Root.tsx'
import './signin.css'
import { SignIn } from './SignIn.tsx'

await drawPage(SignIn)
