import type { Database } from '#platform/database/database.ts'
import { secondsAfter } from '#platform/clock.ts'
import * as accessStore from './access-store.ts'
import type { AccessKey } from './access-token.ts'
import { findLineageOfRefresh, type Terms } from './family.ts'

/** What may be told of a live token to the app that holds it. */
export type Described = {
  kind: 'access' | 'refresh'
  identityId: string
  handle: string
  scope: string[]
  /** Null for a token from before this was recorded. */
  issuedAt: Date | null
  expiresAt: Date
  organizationId: string | null
  ssoConnectionId: string | null
}

/** An access token that is live and this app's, by the row that both of its forms have. */
export async function describeAccess(
  db: Database,
  { clientId }: Terms,
  key: AccessKey,
  now: Date,
): Promise<Described | undefined> {
  const access = await accessStore.findAccessOfClient(db, { ...key, clientId }, now)
  return access && { kind: 'access', identityId: key.identityId, ...access }
}

/** A refresh token that this app could use now: a live one, or one whose answer may have been lost a moment ago. */
export async function describeRefresh(
  db: Database,
  { clientId, refreshTokenSeconds }: Terms,
  refreshToken: string,
  now: Date,
): Promise<Described | undefined> {
  const found = await findLineageOfRefresh(db, refreshToken, now)
  if (!found || found.reused || found.lineage.clientId !== clientId || found.lineage.revokedAt !== null)
    return undefined

  const { identityId, scope, rotatedAt, endsAt, organizationId, ssoConnectionId } = found.lineage
  const idleAt = rotatedAt && secondsAfter(rotatedAt, refreshTokenSeconds)
  const expiresAt = idleAt && idleAt < endsAt ? idleAt : endsAt
  const identity = expiresAt > now ? await accessStore.findHandle(db, identityId) : undefined
  if (!identity) return undefined
  const { handle } = identity
  const forOrganization = { organizationId, ssoConnectionId }
  return { kind: 'refresh', identityId, handle, scope, issuedAt: rotatedAt, expiresAt, ...forOrganization }
}
