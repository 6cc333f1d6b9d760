import { isHandle } from '@countersign/protocol/formats/handle'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'

type Availability = 'available' | 'taken'

/** Time after the last key before the username is checked. */
const restMilliseconds = 400

/**
 * Returns whether a username can be registered now, once the user has stopped typing, and undefined before or if it is
 * unknown.
 */
export function useAvailability(handle: string): Availability | undefined {
  const [checked, setChecked] = useState<{ handle: string; availability: Availability }>()
  useEffect(() => {
    if (!isHandle(handle)) return
    const timer = setTimeout(() => {
      call('POST /api/auth/register/available', { body: { handle } }).then(
        ({ available }) => setChecked({ handle, availability: available ? 'available' : 'taken' }),
        // The registration decides, and says why it fails.
        () => setChecked(undefined),
      )
    }, restMilliseconds)
    return () => clearTimeout(timer)
  }, [handle])
  return checked?.handle === handle ? checked.availability : undefined
}
