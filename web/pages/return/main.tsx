import { drawPage } from '../../components/frame/Root.tsx'
import { Return } from './Return.tsx'

await drawPage(Return)
