import { type KeyObject, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { type Checkpoint, writeCheckpoint, writeNote } from '@countersign/protocol/formats/signing/checkpoint'
import { CompactSign } from 'jose/jws/compact/sign'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Subtree, appendLeaves, rootOf } from '@countersign/protocol/formats/signing/merkle-tree'
import { type Database, isReadOnly, type Transaction, transaction } from '#platform/database/database.ts'
import { loadSubtrees, subtreesOf } from './merkle.ts'
import * as store from './store.ts'

/** Context under which the log key is sealed. The key signs checkpoints and receipts, never tokens. */
const context = 'transparency-log-key'

type LogKey = { publicKey: Uint8Array; privateKey: KeyObject }
export type SealedLogKey = { publicKey: Uint8Array; sealedPrivateKey: string }

async function generateLogKey(keyring: ServerContext['keyring']): Promise<LogKey & SealedLogKey> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const sealedPrivateKey = await keyring.seal(context, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return { publicKey: rawOf(publicKey), privateKey, sealedPrivateKey }
}

/** Loads the log key. Throws `ConfigError` if `SECRET_KEY` does not decrypt it. */
async function loadLogKey(
  keyring: ServerContext['keyring'],
  { publicKey, sealedPrivateKey }: SealedLogKey,
): Promise<LogKey> {
  return { publicKey, privateKey: createPrivateKey(await keyring.open(context, sealedPrivateKey)) }
}

/** Re-encrypts the key under the current root key of the keyring. */
function reencrypt(keyring: ServerContext['keyring'], sealedPrivateKey: string): Promise<string> {
  return keyring.renew(context, sealedPrivateKey)
}

/** Formats a checkpoint as a note signed with the log key. */
function signCheckpoint({ publicKey, privateKey }: LogKey, checkpoint: Checkpoint): string {
  const text = writeCheckpoint(checkpoint)
  return writeNote(sha256, text, { name: checkpoint.origin, publicKey }, sign(null, Buffer.from(text), privateKey))
}

/** Signs a statement with the log key, as a compact JWS of this type. */
export async function signStatement(
  keyring: ServerContext['keyring'],
  log: SealedLogKey,
  type: string,
  statement: object,
): Promise<string> {
  const { publicKey, privateKey } = await loadLogKey(keyring, log)
  const { alg, kid } = publicJwkOf(publicKey)
  return new CompactSign(Buffer.from(JSON.stringify(statement)))
    .setProtectedHeader({ alg, typ: type, kid })
    .sign(privateKey)
}

/** Signs a message with the log key. */
export async function signWithLogKey(
  keyring: ServerContext['keyring'],
  log: SealedLogKey,
  message: Uint8Array,
): Promise<Buffer> {
  const { privateKey } = await loadLogKey(keyring, log)
  return sign(null, message, privateKey)
}

/** Returns the public key as a JWK, with its thumbprint (RFC 7638) as key ID. */
export function publicJwkOf(publicKey: Uint8Array) {
  const members = { crv: 'Ed25519', kty: 'OKP', x: Buffer.from(publicKey).toString('base64url') } as const
  const kid = sha256(JSON.stringify(members)).toString('base64url')
  return { ...members, kid, use: 'sig', alg: 'EdDSA' } as const
}

function rawOf(publicKey: KeyObject): Uint8Array {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
}

type Vault = Pick<ServerContext, 'db' | 'keyring'>

/** Number of leaves that get their index in one transaction; other transactions wait for it. */
const batchLeaves = 500

/**
 * Creates the log if there is none: its key, and a checkpoint of the empty tree. The log keeps its name permanently.
 * Throws `ConfigError` if a log exists whose key `SECRET_KEY` does not decrypt.
 */
export async function initializeLog(
  { db, keyring, config }: Vault & Pick<ServerContext, 'config'>,
  now: Date,
): Promise<void> {
  const log = await store.findLog(db)
  if (log) return void (await loadLogKey(keyring, log))
  const key = await generateLogKey(keyring)
  const head = { origin: `${config.baseUrl.host}/transparency`, size: 0, root: rootOf(sha256, []) }
  await store.insertLog(db, { ...key, ...head, checkpoint: signCheckpoint(key, head) }, now)
}

export type Log = Awaited<ReturnType<typeof store.getTreeHead>>

/**
 * Returns the current log. The first reader assigns indexes to pending leaves, so that no reader sees an outdated log.
 * On a read-only database it returns the last state.
 */
export async function getTreeHead(vault: Vault, now: Date): Promise<Log> {
  const log = await store.getTreeHead(vault.db, now)
  if (!log.isBehind) return log
  try {
    await placeDueLeaves(vault, 'lately', now)
  } catch (error) {
    if (isReadOnly(error)) return log
    throw error
  }
  return store.getTreeHead(vault.db, now)
}

/**
 * Assigns indexes to all due leaves, in case no client reads the log, or a leaf came late. With any number of
 * processes, each leaf gets one index and each index one leaf: one process at a time locks the tree head.
 */
export async function publishCheckpoint(vault: Vault, now: Date): Promise<void> {
  for (const due of ['lately', 'ever'] as const) while ((await placeDueLeaves(vault, due, now)) === batchLeaves);
}

/** Re-encrypts the log key if it is not under the current root key, so that the operator can remove the old one. */
export async function reencryptLogKey({ db, keyring }: Vault): Promise<void> {
  const log = await store.findLog(db)
  if (!log) return
  const sealed = await reencrypt(keyring, log.sealedPrivateKey)
  if (sealed !== log.sealedPrivateKey) await store.replaceSealed(db, log.sealedPrivateKey, sealed)
}

/** Returns the log without its newest leaves. */
export async function getLog(db: Database | Transaction): Promise<Omit<Log, 'isBehind'>> {
  const log = await store.findLog(db)
  if (!log) throw new Error('the transparency log was not initialized')
  return log
}

/** Assigns indexes to a batch of leaves, atomically, and signs the new tree head; returns how many there were. */
function placeDueLeaves({ db, keyring }: Vault, due: store.Due, now: Date): Promise<number> {
  return transaction(db, async (tx) => {
    const log = await store.lockLog(tx)
    const leafHashes = await store.listPendingLeaves(tx, due, now, batchLeaves)
    if (leafHashes.length === 0) return 0

    let peaks = await loadSubtrees(tx, subtreesOf({ start: 0, end: log.size }))
    const completed: Subtree[] = []
    for (const leafHash of leafHashes) {
      const grown = appendLeaves(sha256, peaks, leafHash)
      peaks = grown.peaks
      completed.push(...grown.completed)
    }
    await store.assignLeafIndexes(tx, log.size, leafHashes)
    await store.insertNodes(tx, completed)

    const head = { size: log.size + leafHashes.length, root: rootOf(sha256, peaks) }
    const key = await loadLogKey(keyring, log)
    await store.publishCheckpoint(tx, { ...head, checkpoint: signCheckpoint(key, { origin: log.origin, ...head }) })
    return leafHashes.length
  })
}
