import type { Identity } from '@countersign/protocol/accounts/identities'
import type { SsoArrival } from '@countersign/protocol/organizations/sso'
import { useState } from 'preact/hooks'
import { call, Refused } from '../../lib/call.ts'
import { readSession } from '../../lib/session.ts'
import { arrivalOfPage, unlessOver } from './arrival.ts'

/** How far a person is who has come from their organization's sign-in. */
export type Step =
  | { at: 'look' }
  | { at: 'over' }
  | { at: 'tested'; arrival: SsoArrival }
  | { at: 'authenticate'; arrival: SsoArrival }
  | { at: 'choose identity'; arrival: SsoArrival; identities: Identity[] }

const readArrival = 'GET /api/sso/arrivals/:flowId'
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A proof that is older is soon too old to connect anything by. */
const freshSeconds = 240

/** The step where the person is, and all that can be done about it. */
export function useFlow() {
  const [step, setStep] = useState<Step>({ at: 'look' })
  const flowId = arrivalOfPage()

  async function look() {
    const arrival = uuid.test(flowId) ? await unlessOver(call(readArrival, { params: { flowId } })) : undefined
    if (!arrival) return setStep({ at: 'over' })
    if (arrival.purpose === 'test') return setStep({ at: 'tested', arrival })
    const session = await readSession()
    const isHere = session?.authMethod === 'passkey' && session.secondsSinceAuthTime < freshSeconds
    if (isHere) return setStep({ at: 'choose identity', arrival, identities: session.identities })
    setStep({ at: 'authenticate', arrival })
  }

  function signedIn(identities: Identity[]) {
    if (step.at === 'authenticate') setStep({ at: 'choose identity', arrival: step.arrival, identities })
  }

  async function connect({ identityId }: Identity) {
    if (step.at !== 'choose identity') return
    const linking = call('POST /api/sso/arrivals/:flowId/link', { params: { flowId }, body: { identityId } })
    const linked = await unlessOver(linking.catch(askAgain))
    if (linked) return location.replace(linked.returnTo)
    if (linked === undefined) setStep({ at: 'over' })
  }

  /** The proof may have become too old while the person was choosing. */
  function askAgain(error: unknown) {
    const isStale = error instanceof Refused && /^(unauthorized|reauthentication_required)$/.test(error.code)
    if (!isStale || step.at !== 'choose identity') throw error
    setStep({ at: 'authenticate', arrival: step.arrival })
    return null
  }

  return { step, look, signedIn, connect }
}
