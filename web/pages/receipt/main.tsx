import { renderPage } from '../../components/frame/Root.tsx'
import '../../components/display/exact-text.css'
import '../../components/signature/sign-bar.css'
import './receipt.css'
import { ReceiptPage } from './ReceiptPage.tsx'
import { VerifyPage } from './VerifyPage.tsx'

await renderPage(location.pathname === '/verify' ? VerifyPage : ReceiptPage)
