import { drawPage } from '../ui/Root.tsx'
import { Ending } from './Ending.tsx'

await drawPage(Ending)
