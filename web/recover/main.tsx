import { drawPage } from '../ui/Root.tsx'
import { Recover } from './Recover.tsx'

await drawPage(Recover)
