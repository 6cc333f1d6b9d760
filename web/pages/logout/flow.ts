import type { LogoutView } from '@countersign/protocol/pages'
import { useState } from 'preact/hooks'
import { call, Refused } from '../../lib/call.ts'
import { leave } from '../../lib/leave.ts'
import { readSession, signOut, type Session } from '../../lib/session.ts'

/** Where a person is who was sent here to sign out. */
export type Step =
  | { at: 'look' }
  | { at: 'ask'; session: Session }
  | { at: 'signed out' }
  | { at: 'leave'; url: string }

/** The step where the person is, and what can be done about it. */
export function useFlow({ idTokenHint, after }: LogoutView) {
  const [step, setStep] = useState<Step>({ at: 'look' })

  /** Whoever was sent here from the session that they are in has said what they want; anybody else is asked. */
  async function look() {
    if (idTokenHint !== undefined && (await isEndedFor(idTokenHint))) return finish()
    const session = await readSession()
    if (!session) return finish()
    setStep({ at: 'ask', session })
  }

  async function approve() {
    await signOut()
    finish()
  }

  function finish() {
    if (after.at === 'here') return setStep({ at: 'signed out' })
    setStep({ at: 'leave', url: after.url })
    leave(after)
  }

  return { step, look, approve }
}

/** Ends the session of an ID token; false where it is not the one here, and the person must be asked. */
async function isEndedFor(idTokenHint: string): Promise<boolean> {
  try {
    await call('POST /api/auth/session/end', { body: { idTokenHint } })
    return true
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (error.status === 401) return true
    if (error.code === 'interaction_required') return false
    throw error
  }
}
