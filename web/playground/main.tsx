import { drawPage } from '../ui/Root.tsx'
import './playground.css'
import { Playground } from './Playground.tsx'

await drawPage(Playground)
