import { drawPage } from '../ui/Root.tsx'
import './sign.css'
import { Sign } from './Sign.tsx'

await drawPage(Sign)
