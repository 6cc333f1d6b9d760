import { drawPage } from '../ui/Root.tsx'
import { Fault } from './Fault.tsx'

await drawPage(Fault)
