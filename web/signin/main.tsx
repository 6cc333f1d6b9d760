import { drawPage } from '../ui/Root.tsx'
import './signin.css'
import { SignIn } from './SignIn.tsx'

await drawPage(SignIn)
