import { drawPage } from '../../components/frame/Root.tsx'
import { Logout } from './Logout.tsx'

await drawPage(Logout)
