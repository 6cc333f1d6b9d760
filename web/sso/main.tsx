import { drawPage } from '../ui/Root.tsx'
import '../signin/signin.css'
import { FindOrganization } from './FindOrganization.tsx'
import { Arrival } from './Arrival.tsx'

await drawPage(location.pathname === '/sso/link' ? Arrival : FindOrganization)
