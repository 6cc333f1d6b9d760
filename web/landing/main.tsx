import { drawPage } from '../ui/Root.tsx'
import './landing.css'
import { Landing } from './Landing.tsx'

await drawPage(Landing)
