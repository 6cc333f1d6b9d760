import { type ClientId, type IdentityId, asId } from '@countersign/protocol/ids'
import { addSeconds } from '#platform/clock.ts'
import type { Transaction } from '#platform/database/database.ts'
import * as store from './ended-app-store.ts'
import type { ConsentPosition } from './ended-app-store.ts'

export { deleteEnded as forgetEndedApps, setPosition as setExamined } from './ended-app-store.ts'
export type { ConsentPosition }

/**
 * How long users stay connected to a deleted app: an operator can have deleted it by mistake, and declare it again
 * under the same client ID. Nothing can use a connection meanwhile.
 */
const keptSeconds = 30 * 24 * 3600

/** Apps that stay deleted, and the last consent that was examined for them. */
export type EndedApps = { clientIds: ClientId[]; last: ConsentPosition }

/** Position before all consents. */
const start: ConsentPosition = {
  identityId: asId<IdentityId>('00000000-0000-0000-0000-000000000000'),
  clientId: asId<ClientId>(''),
}

/**
 * Locks apps that were deleted long enough ago until the transaction ends: those whose consents are being examined, or
 * else the next ones. Forgets those that exist again. Returns undefined if there are none.
 */
export async function lockEndedApps(tx: Transaction, now: Date): Promise<EndedApps | undefined> {
  const due = await store.lockEnded(tx, addSeconds(now, -keptSeconds))
  if (due.length === 0) return undefined
  const present = await store.listPresent(
    tx,
    due.map(({ clientId }) => clientId),
  )
  await store.deleteEnded(tx, present)
  const ended = due.filter(({ clientId }) => !present.includes(clientId))
  const [begun] = ended.filter(({ lastIdentityId }) => lastIdentityId !== null)
  const { lastIdentityId = null, lastClientId = null } = begun ?? {}
  const last =
    lastIdentityId === null || lastClientId === null ? start : { identityId: lastIdentityId, clientId: lastClientId }
  const examined = begun ? ended.filter((each) => each.lastIdentityId !== null) : ended
  return { clientIds: examined.map(({ clientId }) => clientId), last }
}
