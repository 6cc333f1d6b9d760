import { drawPage } from '../ui/Root.tsx'
import '../ui/exact-text.css'
import { Act } from './Act.tsx'

await drawPage(Act)
