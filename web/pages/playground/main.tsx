import { renderPage } from '../../components/frame/Root.tsx'
import './playground.css'
import { Playground } from './Playground.tsx'

await renderPage(Playground)
