import { drawPage } from '../../components/frame/Root.tsx'
import '../../components/display/entries.css'
import { OrganizationKeys } from './OrganizationKeys.tsx'

await drawPage(OrganizationKeys)
