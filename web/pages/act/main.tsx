import { useBusinessWords } from '../business/words.ts'
import { drawPage, Saying } from '../../components/frame/Root.tsx'
import '../../components/display/exact-text.css'
import { Act } from './Act.tsx'

await drawPage(() => (
  <Saying refused={useBusinessWords().refused}>
    <Act />
  </Saying>
))
