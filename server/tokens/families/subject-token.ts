import type { Transaction } from '#platform/database/database.ts'
import { tokenPrefix } from '#platform/crypto/token-format.ts'
import * as accessStore from './access-store.ts'
import { accessKeyOf, type AccessKey, type Issuing } from './access-token.ts'
import type { Granted } from './store.ts'

/**
 * Whom an app may speak for by an access token of its own, when that person last proved who they are, and whether an
 * organization's provider alone said so.
 */
export type Subject = { identityId: string; authTime: Date; byProviderAlone: boolean }

type GivenFor = Pick<Granted, 'organizationId' | 'ssoConnectionId'>

/**
 * Where the row of a subject token is (RFC 8693 §2.1), if it is an `access_token_jwt` of ours; its opaque twin is none.
 * To be read before a transaction: who verifies may have to wait for the keys.
 */
export async function readSubjectToken(issuing: Issuing, token: string, now: Date): Promise<AccessKey | undefined> {
  return token.startsWith(tokenPrefix.access) ? undefined : accessKeyOf(issuing, token, now)
}

/** The subject of a token that this app got from here, as long as it is live, and what organization it is for. */
export async function findSubject(
  tx: Transaction,
  { key, clientId }: { key: AccessKey; clientId: string },
  now: Date,
): Promise<(Subject & GivenFor) | undefined> {
  const access = await accessStore.findAccessOfClient(tx, { ...key, clientId }, now)
  if (!access) return undefined
  const { authTime, byProviderAlone, organizationId, ssoConnectionId } = access
  return { identityId: key.identityId, authTime, byProviderAlone, organizationId, ssoConnectionId }
}
