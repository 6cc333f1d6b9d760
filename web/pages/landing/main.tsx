import { renderPage } from '../../components/frame/Root.tsx'
import './landing.css'
import { Landing } from './Landing.tsx'

await renderPage(Landing)
