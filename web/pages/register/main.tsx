import { drawPage } from '../../components/frame/Root.tsx'
import { Register } from './Register.tsx'

await drawPage(Register)
