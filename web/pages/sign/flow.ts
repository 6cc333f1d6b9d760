import type { SignView } from '@countersign/protocol/pages'
import { useRef, useState } from 'preact/hooks'
import { call, ApiError } from '../../lib/api/call.ts'
import { isSignInRequired, fetchOwnSession, signOut, type Session } from '../../lib/session/session.ts'
import { showUser } from '../../components/frame/shown-user.ts'
import { loadHand } from '../../components/signature/hand.ts'
import { postResultToOpener } from './answer.ts'
import { useSigningActions } from './answering.ts'
import { createCurrentStep } from './current-step.ts'
import type { Event, OwnSignIn } from './steps.ts'

/** The signed-in user. */
export type Owner = Pick<Session, 'user' | 'identities'>

/** Returns the SSO login that the error requires. Throws the error if it requires none. */
function placeIn(error: ApiError): OwnSignIn {
  const { organizationName, loginUrl } = error.fields
  if (typeof organizationName !== 'string' || typeof loginUrl !== 'string') throw error
  return { organizationName, loginUrl }
}

/** Returns what an error tells about the user or the request; undefined if it only tells that something failed. */
function eventOf(error: ApiError): Event | undefined {
  if (isSignInRequired(error)) return { type: 'nobody signed in' }
  if (error.code === 'request_not_found') return { type: 'no such request' }
  if (error.code === 'approval_changed') return { type: 'stopped', why: 'changed' }
  if (error.code === 'enterprise_sso_required') return { type: 'own sign-in asked', place: placeIn(error) }
  return undefined
}

/** The current step, and its actions. */
export function useFlow({ requestId, site }: SignView, framed: boolean) {
  const [current] = useState(() => createCurrentStep({ framed }))
  const [step, setStep] = useState(current.get)
  const owner = useRef<Owner | undefined>(undefined)

  /** Goes to the step after an event. Posts the result to the app once. */
  function advance(event: Event): void {
    const { before, next } = current.advance(event)
    setStep(next)
    if (next.at === 'end' && before.at !== 'end' && next.answer)
      postResultToOpener(next.answer, next.origins, { framed })
  }

  /** Also runs whenever the user returns to this tab, because they may have signed in or answered elsewhere. */
  async function look() {
    const session = await fetchOwnSession()
    if (!session) return advance({ type: 'nobody signed in' })
    await signedIn(session)
  }

  async function signedIn(session: Owner) {
    owner.current = session
    showUser(session.user)
    await read()
  }

  function read() {
    const params = { requestId }
    return current.read(async (isUsed) => {
      const [request] = await Promise.all([
        ofTheirs(() => call('GET /api/signing/requests/:requestId', { params }), isUsed),
        loadHand(),
      ])
      if (request && isUsed()) advance({ type: 'request read', request })
    })
  }

  async function useAnotherAccount() {
    await signOut()
    advance({ type: 'nobody signed in' })
  }

  /**
   * Runs `work`. The session may end, or the request be answered, at any time elsewhere: then the page reloads the
   * state, unless the result of `work` is not used any more.
   */
  async function ofTheirs<T>(work: () => Promise<T>, isUsed = () => true): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'invalid_credential') throw error
      if (!isUsed()) return undefined
      const event = eventOf(error)
      if (event) advance(event)
      else if (error.code === 'request_not_pending') await read()
      else {
        // The approval has expired while the user looked for the code.
        if (error.code === 'invalid_flow') advance({ type: 'turned back' })
        throw error
      }
      return undefined
    }
  }

  const place = { current, owner: () => owner.current, rpId: site.relyingPartyId }
  const answers = useSigningActions(place, { advance, read, ofTheirs })
  return { step, owner: owner.current, advance, look, signedIn, useAnotherAccount, ...answers }
}
