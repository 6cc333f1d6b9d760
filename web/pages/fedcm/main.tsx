import { renderPage } from '../../components/frame/Root.tsx'
import { FedcmResult } from './Ending.tsx'

await renderPage(FedcmResult)
