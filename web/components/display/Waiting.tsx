import { useWords } from '../frame/Root.tsx'

/** Keeps the room of what is on its way; says so only to those who wait long enough to wonder. */
export function Waiting() {
  return (
    <p class="waiting" role="status">
      {useWords().frame.moment}
    </p>
  )
}
