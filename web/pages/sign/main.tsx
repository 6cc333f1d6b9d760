import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/display/exact-text.css'
import './sign.css'
import { Sign } from './Sign.tsx'

await renderPage(Sign)
