import type { Passkey } from '@countersign/protocol/passkeys'
import { listKeyWraps } from '#encryption/key-wrap.ts'
import type { Database } from '#kernel/database.ts'
import { listCredentials } from './store.ts'

/** The passkeys of a person, the oldest first. */
export async function listPasskeys(db: Database, userId: string): Promise<Passkey[]> {
  const wraps = await listKeyWraps(db, userId)
  const opening = new Set(wraps.map(({ credentialId }) => credentialId))
  return (await listCredentials(db, userId)).map((credential) => ({
    credentialId: credential.credentialId,
    name: credential.name,
    createdAt: credential.createdAt.toISOString(),
    lastUsedAt: credential.lastUsedAt.toISOString(),
    backedUp: credential.backedUp,
    opensKeys: opening.has(credential.credentialId),
  }))
}
