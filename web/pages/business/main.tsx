import { drawPage, Saying } from '../../components/frame/Root.tsx'
import '../../components/display/copies.css'
import '../../components/display/disclosure.css'
import '../../components/display/entries.css'
import '../../components/display/sections.css'
import './business.css'
import { Business } from './Business.tsx'
import { useBusinessWords } from './words.ts'

await drawPage(() => (
  <Saying refused={useBusinessWords().refused}>
    <Business />
  </Saying>
))
