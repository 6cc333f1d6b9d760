import { renderPage } from '../../components/frame/Root.tsx'
import './developers.css'
import { Developers } from './Developers.tsx'

await renderPage(Developers)
