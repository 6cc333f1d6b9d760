import type { SignView } from '@countersign/protocol/pages'
import { useRef, useState } from 'preact/hooks'
import { call, Refused } from '../../lib/call.ts'
import { mustSignIn, readOwnSession, signOut, type Session } from '../../lib/session.ts'
import { tellApp } from './answer.ts'
import { waysToAnswer } from './answering.ts'
import { nextStep, type Event, type OwnSignIn, type Step } from './steps.ts'

/** Whoever is signed in. */
export type Owner = Pick<Session, 'user' | 'identities'>

/** Where the organization has them sign in; throws the error where it does not say so. */
function placeIn(error: Refused): OwnSignIn {
  const { organizationName, loginUrl } = error.fields
  if (typeof organizationName !== 'string' || typeof loginUrl !== 'string') throw error
  return { organizationName, loginUrl }
}

/** The step where the person is, and all that can be done about it. */
export function useFlow({ requestId, site }: SignView, framed: boolean) {
  const [step, setStep] = useState<Step>({ at: 'look' })
  const current = useRef(step)
  const owner = useRef<Owner | undefined>(undefined)

  /** Goes to the step after an event; the app is told of the answer when it is there, and once. */
  function advance(event: Event): void {
    const before = current.current
    const next = nextStep(before, event, { framed })
    current.current = next
    setStep(next)
    if (next.at === 'end' && before.at !== 'end' && next.answer) tellApp(next.answer, next.origins, { framed })
  }

  /** Also whenever the person comes back from elsewhere, where they may have signed in, or answered. */
  async function look() {
    const session = await readOwnSession()
    if (!session) return advance({ type: 'nobody signed in' })
    await signedIn(session)
  }

  async function signedIn(session: Owner) {
    owner.current = session
    await read()
  }

  async function read() {
    const params = { requestId }
    const request = await ofTheirs(() => call('GET /api/signing/requests/:requestId', { params }))
    if (request) advance({ type: 'request read', request })
  }

  async function useAnotherAccount() {
    await signOut()
    advance({ type: 'nobody signed in' })
  }

  /** A session may end and a request be answered at any moment, elsewhere: then the page goes on from there. */
  async function ofTheirs<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (mustSignIn(error)) advance({ type: 'nobody signed in' })
      else if (error.code === 'request_not_found') advance({ type: 'no such request' })
      else if (error.code === 'request_not_pending') await read()
      else if (error.code === 'reauthentication_required' && framed) advance({ type: 'proof needed' })
      else if (error.code === 'enterprise_sso_required') advance({ type: 'own sign-in asked', place: placeIn(error) })
      else throw error
      return undefined
    }
  }

  const place = { step: () => current.current, owner: () => owner.current, rpId: site.relyingPartyId, framed }
  const answers = waysToAnswer(place, { advance, read, ofTheirs })
  return { step, owner: owner.current, advance, look, signedIn, useAnotherAccount, ...answers }
}
