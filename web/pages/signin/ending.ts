import type { SignInView, Withdrawal } from '@countersign/protocol/pages'
import { leave } from '../../lib/leave.ts'
import { mustSignIn } from '../../lib/session.ts'
import type { Event, Step } from './steps.ts'

type Present = { step: () => Step; hasConnected: () => Promise<boolean> }

/** How a request ends without a code, though the user has not said no. */
export function waysToEnd(view: SignInView, { step, hasConnected }: Present, advance: (event: Event) => Promise<void>) {
  /** Takes to the app that what it asked for is not to be had. */
  function takeBack(why: Withdrawal): void {
    if (view.connector) leave(view.connector.withdrawn[why])
  }

  /** Where nothing may be asked: leaves at once, but asks first before it leads to an app that is a stranger. */
  async function leaveSilently(): Promise<void> {
    const ended = step()
    if (!(await mayLeaveUnasked())) return advance({ type: 'app is unknown' })
    if (ended.at === 'withdrawn') return takeBack(ended.why)
    if (ended.at === 'leave silently' && view.silently) leave(view.silently[ended.end])
  }

  /**
   * Whether the browser may go to the app before the user has done anything. To an unverified app only where the user
   * has connected it: else any link to this service could lead to any address (RFC 9700 §4.11.2).
   */
  async function mayLeaveUnasked(): Promise<boolean> {
    if (!view.unverified) return true
    try {
      return await hasConnected()
    } catch (error) {
      // Without a session nothing is known of who is there.
      if (mustSignIn(error)) return false
      throw error
    }
  }

  return { takeBack, leaveSilently }
}
