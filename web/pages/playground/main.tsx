import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/display/disclosure.css'
import './playground.css'
import { Playground } from './Playground.tsx'

await renderPage(Playground)
