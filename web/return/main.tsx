import { drawPage } from '../ui/Root.tsx'
import { Return } from './Return.tsx'

await drawPage(Return)
