import { drawPage } from '../ui/Root.tsx'
import '../ui/copies.css'
import '../ui/disclosure.css'
import '../ui/entries.css'
import './developers.css'
import { Developers } from './Developers.tsx'

await drawPage(Developers)
