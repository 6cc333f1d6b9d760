import { drawPage, Saying } from '../ui/Root.tsx'
import '../ui/copies.css'
import '../ui/disclosure.css'
import '../ui/entries.css'
import '../ui/sections.css'
import './business.css'
import { Business } from './Business.tsx'
import { useBusinessWords } from './words.ts'

await drawPage(() => (
  <Saying refused={useBusinessWords().refused}>
    <Business />
  </Saying>
))
