import type { ResponseOf } from '@countersign/protocol/api'
import { call, ApiError } from '../api/call.ts'
import { rememberSignedIn } from '../remembered.ts'

export type Session = ResponseOf<'GET /api/auth/session'>

/** Returns the current session, or undefined. */
export async function readSession(): Promise<Session | undefined> {
  const { session } = await call('GET /api/auth/session/current', {})
  return session ?? undefined
}

/**
 * Returns the current session if a passkey opened it. SSO sessions are valid for one organization only, so pages about
 * the account treat them as signed out.
 */
export async function fetchOwnSession(): Promise<Session | undefined> {
  const session = await readSession()
  return session?.authMethod === 'passkey' ? session : undefined
}

/** Returns whether an error requires sign-in: there is no session, or only an SSO session. */
export function isSignInRequired(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.code === 'passkey_required')
}

/** Signs out. A second sign-out, such as from another tab, is not an error. */
export async function signOut(): Promise<void> {
  await call('DELETE /api/auth/session', {}).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 401)) throw error
  })
  rememberSignedIn(false)
}
