import { drawPage } from '../ui/Root.tsx'
import '../ui/entries.css'
import { OrganizationKeys } from './OrganizationKeys.tsx'

await drawPage(OrganizationKeys)
