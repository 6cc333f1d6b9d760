import { supportsPasskeys } from '../../lib/keys/passkey.ts'
import { useMessages } from '../frame/Root.tsx'
import { Note } from '../ui/Chip.tsx'

/** Says at once that this browser cannot use passkeys, if it cannot. */
export function UnsupportedNote() {
  const words = useMessages().login
  if (supportsPasskeys()) return null
  return (
    <Note tone="bad">
      <strong>{words.unsupported}</strong>
      <p>{words.unsupportedHow}</p>
    </Note>
  )
}
