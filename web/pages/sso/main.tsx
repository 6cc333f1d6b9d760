import { drawPage } from '../../components/frame/Root.tsx'
import '../signin/signin.css'
import { FindOrganization } from './FindOrganization.tsx'
import { Arrival } from './Arrival.tsx'
import { Confirmation } from './Confirmation.tsx'

const pages: Record<string, () => ReturnType<typeof Arrival>> = { '/sso/link': Arrival, '/sso/confirm': Confirmation }
await drawPage(pages[location.pathname] ?? FindOrganization)
