import { leaveTo } from '../../lib/navigation.ts'
import { readSiteSettings } from '../../lib/page-data.ts'
import { signOut } from '../../lib/session/session.ts'
import { useActions } from './use-actions.ts'

/**
 * Signs out and opens the start page. `onStart` is called first. Returns the problem if the user is still signed in.
 */
export function useSignOut(onStart?: () => void): { problem: unknown; leave: () => void } {
  const { problem, perform } = useActions()
  const work = async () => {
    onStart?.()
    await signOut()
    leaveTo(`${readSiteSettings().authUrl}/`)
  }
  return { problem, leave: () => void perform({ name: 'sign-out', do: work }) }
}
