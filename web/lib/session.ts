import type { Answer } from '@countersign/protocol/api'
import { call, Refused } from './call.ts'

export type Session = Answer<'GET /api/auth/session'>

/** Who is signed in, or `undefined`. */
export function readSession(): Promise<Session | undefined> {
  return call('GET /api/auth/session', {}).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 401) return undefined
    throw error
  })
}

/**
 * Whoever is signed in with a passkey. Whom an organization has signed in, for itself alone, is nobody yet where people
 * go about what is theirs.
 */
export async function readOwnSession(): Promise<Session | undefined> {
  const session = await readSession()
  return session?.authMethod === 'passkey' ? session : undefined
}

/** Whether a refusal says that the person has to sign in: nobody is, or an organization has signed them in alone. */
export function mustSignIn(error: unknown): boolean {
  return error instanceof Refused && (error.status === 401 || error.code === 'passkey_required')
}

/** Signs out. To do so twice, from two tabs, is no failure. */
export async function signOut(): Promise<void> {
  await call('DELETE /api/auth/session', {}).catch((error: unknown) => {
    if (!(error instanceof Refused && error.status === 401)) throw error
  })
}
