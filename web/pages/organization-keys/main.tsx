import { showKeyNotices } from '../../components/keys/key-notices.ts'
import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/signature/sign-bar.css'
import './organization-keys.css'
import { OrganizationKeys } from './OrganizationKeys.tsx'

showKeyNotices()
await renderPage(OrganizationKeys)
