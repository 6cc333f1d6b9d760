import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/display/exact-text.css'
import { Design } from './Design.tsx'

void renderPage(Design)
