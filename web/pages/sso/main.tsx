import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/unlock/unlock.css'
import { SsoDiscovery } from './FindOrganization.tsx'
import { LinkSsoAccount } from './Arrival.tsx'
import { Confirmation } from './Confirmation.tsx'

const pages: Record<string, () => ReturnType<typeof LinkSsoAccount>> = {
  '/sso/link': LinkSsoAccount,
  '/sso/confirm': Confirmation,
}
await renderPage(pages[location.pathname] ?? SsoDiscovery)
