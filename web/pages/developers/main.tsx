import { renderPage } from '../../components/frame/Root.tsx'
import './developers.css'
import { Developers } from './Developers.tsx'
import { Refusals } from './Refusals.tsx'

await renderPage(() => (
  <Refusals>
    <Developers />
  </Refusals>
))
