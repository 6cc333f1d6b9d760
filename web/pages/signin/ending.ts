import type { SignInView, ConnectorUnavailableReason } from '@countersign/protocol/pages'
import { submitRedirect } from '../../lib/navigation.ts'
import { isSignInRequired } from '../../lib/session/session.ts'
import { loadConfirmRedirect } from './late/loading.ts'
import type { Event, Step } from './steps.ts'

type Present = { step: () => Step; hasConnected: () => Promise<boolean> }

/** The actions that end a request without a code, although the user has not denied it. */
export function waysToEnd(view: SignInView, { step, hasConnected }: Present, advance: (event: Event) => Promise<void>) {
  /** Returns to the app with the error that the requested delegation is unavailable. */
  function takeBack(why: ConnectorUnavailableReason): void {
    if (view.connector) submitRedirect(view.connector.withdrawn[why])
  }

  /** Leaves without a prompt, but asks before going to an unverified app that is not connected. */
  async function leaveSilently(): Promise<void> {
    const ended = step()
    if (!(await mayRedirect())) {
      await loadConfirmRedirect()
      return advance({ type: 'app is unknown' })
    }
    if (ended.at === 'withdrawn') return takeBack(ended.why)
    if (ended.at === 'leave silently' && view.silently) submitRedirect(view.silently[ended.end])
  }

  /**
   * Returns whether the browser may go to the app without an action of the user. To an unverified app it may only if
   * the user has connected it. Otherwise any link to this service could redirect to any URL (RFC 9700 §4.11.2).
   */
  async function mayRedirect(): Promise<boolean> {
    if (!view.unverified) return true
    try {
      return await hasConnected()
    } catch (error) {
      // Without a session, the user is unknown.
      if (isSignInRequired(error)) return false
      throw error
    }
  }

  return { takeBack, leaveSilently }
}
