import type { Database, Transaction } from '#kernel/database.ts'
import { tokenPrefix } from '#kernel/token-format.ts'
import { findAccessOfClient } from './access-store.ts'
import { accessKeyOf, type Issuing } from './access-token.ts'

/** Whom an app may speak for by an access token of its own, and when that person last proved who they are. */
export type Subject = { identityId: string; authTime: Date }

/**
 * The subject of an `access_token_jwt` that this app got from here and that is live (RFC 8693 §2.1); undefined for any
 * other token. Its opaque twin is none.
 */
export async function readSubjectToken(
  db: Database | Transaction,
  issuing: Issuing,
  { token, clientId }: { token: string; clientId: string },
  now: Date,
): Promise<Subject | undefined> {
  if (token.startsWith(tokenPrefix.access)) return undefined
  const key = await accessKeyOf(issuing, token, now)
  const access = key && (await findAccessOfClient(db, { ...key, clientId }, now))
  return access && { identityId: key.identityId, authTime: access.authTime }
}
