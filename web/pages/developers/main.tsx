import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/display/copies.css'
import '../../components/display/disclosure.css'
import '../../components/display/entries.css'
import './developers.css'
import { Developers } from './Developers.tsx'

await renderPage(Developers)
