import { drawPage } from '../../components/frame/Root.tsx'
import { Fault } from './Fault.tsx'

await drawPage(Fault)
