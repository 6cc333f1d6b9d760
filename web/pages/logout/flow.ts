import type { LogoutView } from '@countersign/protocol/pages'
import { useState } from 'preact/hooks'
import { showUser } from '../../components/frame/shown-user.ts'
import { call, ApiError } from '../../lib/api/call.ts'
import { submitRedirect } from '../../lib/navigation.ts'
import { readSession, signOut, type Session } from '../../lib/session/session.ts'

/** The steps of RP-initiated logout. */
export type Step =
  | { at: 'look' }
  | { at: 'ask'; session: Session }
  | { at: 'signed out' }
  | { at: 'leave'; url: string }

/** The current step, and its actions. */
export function useFlow({ idTokenHint, after }: LogoutView) {
  const [step, setStep] = useState<Step>({ at: 'look' })

  /** An ID token of the current session replaces the confirmation. Otherwise the user is asked to confirm. */
  async function look() {
    if (idTokenHint !== undefined && (await isEndedFor(idTokenHint))) return finish()
    const session = await readSession()
    if (!session) return finish()
    showUser(session.user)
    setStep({ at: 'ask', session })
  }

  async function approve() {
    await signOut()
    finish()
  }

  function finish() {
    if (after.at === 'here') return setStep({ at: 'signed out' })
    setStep({ at: 'leave', url: after.url })
    submitRedirect(after)
  }

  return { step, look, approve }
}

/** Ends the session of an ID token. Returns false if it is not the current one, so that the user must confirm. */
async function isEndedFor(idTokenHint: string): Promise<boolean> {
  try {
    await call('POST /api/auth/session/end', { body: { idTokenHint } })
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 401) return true
    if (error.code === 'interaction_required') return false
    throw error
  }
}
