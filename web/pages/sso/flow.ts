import type { Identity } from '@countersign/protocol/accounts/identities'
import type { PendingSsoLogin } from '@countersign/protocol/organizations/sso'
import { useState } from 'preact/hooks'
import { showUser } from '../../components/frame/shown-user.ts'
import { call, ApiError } from '../../lib/api/call.ts'
import { readSession } from '../../lib/session/session.ts'
import { arrivalOfPage, unlessOver } from './arrival.ts'

/** The user who has signed in, with their identities. */
type Owner = { user: { userId: string }; identities: Identity[] }

/** The steps of linking an account after an SSO login. */
export type Step =
  | { at: 'look' }
  | { at: 'over' }
  | { at: 'tested'; arrival: PendingSsoLogin }
  | { at: 'authenticate'; arrival: PendingSsoLogin }
  | { at: 'choose identity'; arrival: PendingSsoLogin; identities: Identity[] }

const readArrival = 'GET /api/sso/arrivals/:flowId'
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** An older authentication soon becomes too old for linking. */
const freshSeconds = 240

/** The current step, and its actions. */
export function useFlow() {
  const [step, setStep] = useState<Step>({ at: 'look' })
  const flowId = arrivalOfPage()

  async function look() {
    const arrival = uuid.test(flowId) ? await unlessOver(call(readArrival, { params: { flowId } })) : undefined
    if (!arrival) return setStep({ at: 'over' })
    if (arrival.purpose === 'test') return setStep({ at: 'tested', arrival })
    const session = await readSession()
    const isHere = session?.authMethod === 'passkey' && session.secondsSinceAuthTime < freshSeconds
    if (isHere) return choose(arrival, session)
    setStep({ at: 'authenticate', arrival })
  }

  function signedIn(owner: Owner) {
    if (step.at === 'authenticate') choose(step.arrival, owner)
  }

  function choose(arrival: PendingSsoLogin, { user, identities }: Owner) {
    showUser(user)
    setStep({ at: 'choose identity', arrival, identities })
  }

  async function connect({ identityId }: Identity) {
    if (step.at !== 'choose identity') return
    const linking = call('POST /api/sso/arrivals/:flowId/link', { params: { flowId }, body: { identityId } })
    const linked = await unlessOver(linking.catch(authenticateAgain))
    if (linked) return location.replace(linked.returnTo)
    if (linked === undefined) setStep({ at: 'over' })
  }

  /** The authentication may have become too old while the user was choosing. */
  function authenticateAgain(error: unknown) {
    const isStale = error instanceof ApiError && /^(unauthorized|reauthentication_required)$/.test(error.code)
    if (!isStale || step.at !== 'choose identity') throw error
    setStep({ at: 'authenticate', arrival: step.arrival })
    return null
  }

  return { step, look, signedIn, connect }
}
