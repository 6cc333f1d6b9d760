import { limits } from '@countersign/protocol/formats/limits'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import { transaction, type Database } from '#platform/database/database.ts'
import * as accessStore from './access-store.ts'
import type { AccessKey } from './access-token.ts'
import { findLineageOfRefresh } from './family.ts'
import * as store from './store.ts'

/**
 * Ends all that descends from the consent of a refresh token, of whatever generation it is. Does nothing where the
 * token is not this client's, or its lineage has ended.
 */
export async function revokeRefresh(db: Database, clientId: string, refreshToken: string, now: Date): Promise<void> {
  const found = await findLineageOfRefresh(db, refreshToken, now)
  if (!found || found.lineage.clientId !== clientId || found.lineage.endsAt <= now) return

  const { identityId, lineageId } = found.lineage
  await transaction(db, async (tx) => {
    if (!(await store.revokeLineage(tx, identityId, lineageId, now))) return
    await record(tx, { ...revokedBy(clientId, identityId), details: { token: 'refresh_token' } }, now)
  })
}

/**
 * Ends one access token, with its twin. Does nothing where it is not this client's, or has ended. An app gets a new one
 * by each refresh, as often as it likes. The audit log, from which nothing is removed, records one revocation an hour
 * of each lineage.
 */
export async function revokeAccess(db: Database, clientId: string, key: AccessKey, now: Date): Promise<void> {
  await transaction(db, async (tx) => {
    const deleted = await accessStore.deleteAccessOfClient(tx, { ...key, clientId }, now)
    if (!deleted) return
    const after = secondsAfter(now, -limits.accessRevocationRecordedSeconds)
    if (!(await accessStore.noteRecordedRevocation(tx, deleted, { now, after }))) return
    await record(tx, { ...revokedBy(clientId, key.identityId), details: { token: 'access_token' } }, now)
  })
}

const revokedBy = (clientId: string, identityId: string) =>
  ({ action: 'tokens.revoked', actor: 'app', identityId, clientId }) as const
