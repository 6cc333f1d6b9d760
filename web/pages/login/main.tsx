import { drawPage } from '../../components/frame/Root.tsx'
import { Login } from './Login.tsx'

await drawPage(Login)
