import { drawPage } from '../ui/Root.tsx'
import '../ui/exact-text.css'
import './sign.css'
import { Sign } from './Sign.tsx'

await drawPage(Sign)
