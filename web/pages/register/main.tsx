import { renderPage } from '../../components/frame/Root.tsx'
import { Register } from './Register.tsx'

await renderPage(Register)
