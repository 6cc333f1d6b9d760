import { drawPage } from '../ui/Root.tsx'
import '../ui/disclosure.css'
import './playground.css'
import { Playground } from './Playground.tsx'

await drawPage(Playground)
