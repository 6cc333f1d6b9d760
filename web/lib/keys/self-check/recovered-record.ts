/** Makes the self-record with which a user continues after a reset of their keys. */
import {
  recordVersion,
  writeSelfRecord,
  type IdentityEntry,
  type SelfRecord,
} from '@countersign/protocol/formats/self-record/record'
import { readKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import { ApiError } from '../../api/call.ts'
import { compareWithLog, requireNoAlarm, type Owner } from './self-check.ts'
import { readHistory } from './service.ts'

/** What a reset makes for an identity: its new signing key, and the hash of the log entry before it, if it has one. */
export type RecoveredKey = { identityId: string; signing: { publicKey: string; previous: string } | undefined }

/**
 * Seals the record that follows one with the sequence before, which nothing opens any more. What the log contains until
 * now is accepted, because no key in it can be opened: it must be a valid history under a signed head, or else an alarm
 * replaces the page. From here on, the new keys alone are the user's. Throws `key_history_changed` if the service names
 * another entry than the last one of the log, and `UnreachableError`.
 */
export async function sealRecoveredRecord(owner: Owner, keys: RecoveredKey[], sequence: number): Promise<string> {
  const identityIds = keys.map(({ identityId }) => identityId)
  const since = new Date().toISOString()
  const accepted = await Promise.all(identityIds.map((identityId) => acceptAll(identityId, since)))
  const former: SelfRecord = { version: recordVersion, sequence, log: null, identities: Object.fromEntries(accepted) }
  const answered = { kind: 'record', record: former } as const
  const { result } = await compareWithLog({ answered, keys: [], identityIds })
  const { memory } = await requireNoAlarm(owner, result)
  const identities: Record<string, IdentityEntry> = {}
  for (const { identityId, signing } of keys) {
    const { head, leaves } = memory.identities[identityId] ?? { head: null, leaves: 0 }
    if (signing && signing.previous !== head) throw new ApiError(409, 'key_history_changed', '')
    const pending = signing ? [{ promised: null, publicKey: signing.publicKey, since }] : []
    identities[identityId] = { head, leaves, pending }
  }
  const { log } = memory
  const record: SelfRecord = { version: recordVersion, sequence, log, identities }
  return owner.masterKey.sealSelfRecord(owner.userId, 'service', writeSelfRecord(record))
}

/** Names all keys in the log as ones that the user has made, so that the check looks at everything else. */
async function acceptAll(identityId: string, since: string): Promise<readonly [string, IdentityEntry]> {
  const { pages } = await readHistory(identityId)
  const pending = pages.flatMap(({ events }) =>
    events.flatMap(({ leaf }) => {
      const event = readKeyEvent(leaf)
      return typeof event === 'string' ? [] : [{ promised: null, publicKey: event.publicKey, since }]
    }),
  )
  return [identityId, { head: null, leaves: 0, pending }]
}
