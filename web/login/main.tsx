import { drawPage } from '../ui/Root.tsx'
import { Login } from './Login.tsx'

await drawPage(Login)
