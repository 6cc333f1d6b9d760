import { drawPage } from '../../components/frame/Root.tsx'
import '../../components/display/exact-text.css'
import './sign.css'
import { Sign } from './Sign.tsx'

await drawPage(Sign)
