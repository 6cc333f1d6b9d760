import { drawPage } from '../ui/Root.tsx'
import { Register } from './Register.tsx'

await drawPage(Register)
