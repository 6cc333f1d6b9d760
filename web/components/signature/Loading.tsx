import { Spinner } from '../display/Facts.tsx'

/** Reserves the room of what is to be read and signed while it is loading. */
export function Loading() {
  return (
    <div class="loading-room">
      <Spinner />
    </div>
  )
}
