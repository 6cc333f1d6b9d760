import { randomUUID } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { refusals } from '#platform/refusal.ts'
import { isUuid } from '#platform/crypto/token-format.ts'
import type { FlowClient } from './browser-binding.ts'
import * as store from './store.ts'

const refuse = refusals({ invalid_flow: [400, 'This attempt has expired or was used before. Start again.'] })

/** The authorization request for which a passkey is used, by the SHA-256 of its reference; null for none. */
type ForRequest = { requestSha256: Uint8Array | null }

/** What a ceremony is for, and what was settled when it began. */
export type Ceremony =
  | { ceremony: 'register'; userId: string; identityId: string; handle: string; displayName: string }
  | ({ ceremony: 'sign in' } & ForRequest)
  | ({ ceremony: 'reauthenticate'; userId: string } & ForRequest)
  | { ceremony: 'add passkey'; userId: string }
  | { ceremony: 'recover'; userId: string; recoverySha256: Uint8Array }

export type Flow = Ceremony & { challenge: string }

/** Who begins a ceremony: the SHA-256 of what binds it to a browser; null for a client of the API. */
export type BoundTo = { browserSha256: Uint8Array | null }

/** Begins a ceremony: a challenge that can be answered once, within five minutes (WebAuthn §13.4.3). */
export async function beginFlow(
  db: Database,
  ceremony: Ceremony & BoundTo,
  now: Date,
): Promise<{ flowId: string; challenge: string }> {
  const flowId = randomUUID()
  const challenge = randomBytes(32).toString('base64url')
  await store.insertFlow(db, {
    flowId,
    challenge,
    ...ceremony,
    expiresAt: secondsAfter(now, limits.flowLifetimeSeconds),
  })
  return { flowId, challenge }
}

/** Which ceremony is finished, and by whom. */
type Finishing = { flowId: string; client: FlowClient }

/**
 * Takes out a ceremony that has begun; whatever becomes of it, it is over. Another browser than the one that began it
 * neither finishes nor ends it. Refuses `invalid_flow`.
 */
export async function finishFlow<Kind extends Ceremony['ceremony']>(
  db: Database,
  kind: Kind,
  { flowId, client }: Finishing,
  now: Date,
): Promise<Extract<Flow, { ceremony: Kind }>> {
  const id = flowId.toLowerCase()
  const flow = isUuid(id) ? await store.takeFlow(db, kind, { flowId: id, client }, now) : undefined
  if (!flow) throw refuse.invalid_flow()
  return flow
}

/** Deletes up to `batch` ceremonies that nobody finished in time, and says how many. */
export function pruneFlows(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredFlows(db, now, batch)
}
