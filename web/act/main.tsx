import { useBusinessWords } from '../business/words.ts'
import { drawPage, Saying } from '../ui/Root.tsx'
import '../ui/exact-text.css'
import { Act } from './Act.tsx'

await drawPage(() => (
  <Saying refused={useBusinessWords().refused}>
    <Act />
  </Saying>
))
