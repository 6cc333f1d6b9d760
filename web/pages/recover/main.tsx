import { drawPage } from '../../components/frame/Root.tsx'
import { Recover } from './Recover.tsx'

await drawPage(Recover)
