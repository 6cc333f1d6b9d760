import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/unlock/unlock.css'
import { FedcmResult } from './Ending.tsx'

await renderPage(FedcmResult)
