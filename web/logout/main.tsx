import { drawPage } from '../ui/Root.tsx'
import { Logout } from './Logout.tsx'

await drawPage(Logout)
