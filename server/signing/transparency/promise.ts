import { hashKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import {
  inclusionPromiseMessage,
  promiseSeconds,
  type InclusionPromise,
} from '@countersign/protocol/formats/signing/inclusion-promise'
import type { PromisedKeyEvent } from '@countersign/protocol/signing/transparency'
import { addSeconds } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { signWithLogKey, type SealedLogKey } from './log.ts'

/** Promises that the log will contain a leaf within a day. Call it in the transaction that inserts the leaf. */
export async function promiseInclusion(
  keyring: ServerContext['keyring'],
  log: SealedLogKey & { origin: string },
  leaf: string,
  now: Date,
): Promise<PromisedKeyEvent> {
  const promise: InclusionPromise = {
    due: addSeconds(now, promiseSeconds).toISOString(),
    issued: now.toISOString(),
    leaf: hashKeyEvent(sha256, leaf),
    log: log.origin,
  }
  const signature = await signWithLogKey(keyring, log, inclusionPromiseMessage(promise))
  return { leaf, promise: { ...promise, signature: signature.toString('base64') } }
}
