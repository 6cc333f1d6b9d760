import { drawPage } from '../../components/frame/Root.tsx'
import { Ending } from './Ending.tsx'

await drawPage(Ending)
