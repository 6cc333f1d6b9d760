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

/** Signs out. To do so twice, from two tabs, is no failure. */
export async function signOut(): Promise<void> {
  await call('DELETE /api/auth/session', {}).catch((error: unknown) => {
    if (!(error instanceof Refused && error.status === 401)) throw error
  })
}
