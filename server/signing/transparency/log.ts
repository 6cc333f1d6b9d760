import { growTree, rootOf, type Subtree } from '@countersign/protocol/formats/signing/merkle-tree'
import { isReadOnly, transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import { makeLogKey, openLogKey, renewSeal, signCheckpoint } from './log-key.ts'
import { readSubtrees, subtreesOf } from './subtrees.ts'
import * as store from './store.ts'

type Vault = Pick<Kernel, 'db' | 'keyring'>

/** How many leaves get their places in one transaction, which others wait for. */
const batchLeaves = 500

/**
 * Begins the log where there is none: its key, and a checkpoint of nothing. It keeps the name that it gets now. Throws
 * `ConfigError` where there is one whose key `SECRET_KEY` does not open.
 */
export async function beginLog({ db, keyring, config }: Vault & Pick<Kernel, 'config'>, now: Date): Promise<void> {
  const log = await store.findLog(db)
  if (log) return void (await openLogKey(keyring, log))
  const key = await makeLogKey(keyring)
  const head = { origin: `${config.baseUrl.host}/transparency`, size: 0, root: rootOf(sha256, []) }
  await store.insertLog(db, { ...key, ...head, checkpoint: signCheckpoint(key, head) }, now)
}

export type Log = Awaited<ReturnType<typeof store.readLog>>

/**
 * The log as it is now: whoever reads it first gives those leaves their places that wait for it, so that nobody sees it
 * behind. While nothing can be written it is what it was.
 */
export async function readLog(vault: Vault, now: Date): Promise<Log> {
  const log = await store.readLog(vault.db, now)
  if (!log.isBehind) return log
  try {
    await placeDueLeaves(vault, now)
  } catch (error) {
    if (isReadOnly(error)) return log
    throw error
  }
  return store.readLog(vault.db, now)
}

/**
 * Gives all leaves that are due their places, for when nobody reads. However many processes do so, each leaf gets one
 * place and each place one leaf: the head is held by one of them at a time.
 */
export async function advanceLog(vault: Vault, now: Date): Promise<void> {
  while ((await placeDueLeaves(vault, now)) === batchLeaves);
}

/** Seals the key of the log anew where another root than the first has, so that the operator can let that one go. */
export async function resealLogKey({ db, keyring }: Vault): Promise<void> {
  const log = await store.findLog(db)
  if (!log) return
  const sealed = await renewSeal(keyring, log.sealedPrivateKey)
  if (sealed !== log.sealedPrivateKey) await store.replaceSealed(db, log.sealedPrivateKey, sealed)
}

/** Gives a batch of leaves their places, all of it or nothing, and signs the new head; answers how many there were. */
function placeDueLeaves({ db, keyring }: Vault, now: Date): Promise<number> {
  return transaction(db, async (tx) => {
    const log = await store.holdLog(tx)
    const leafHashes = await store.listDue(tx, now, batchLeaves)
    if (leafHashes.length === 0) return 0

    let peaks = await readSubtrees(tx, subtreesOf({ start: 0, end: log.size }))
    const completed: Subtree[] = []
    for (const leafHash of leafHashes) {
      const grown = growTree(sha256, peaks, leafHash)
      peaks = grown.peaks
      completed.push(...grown.completed)
    }
    await store.placeLeaves(tx, log.size, leafHashes)
    await store.insertNodes(tx, completed)

    const head = { size: log.size + leafHashes.length, root: rootOf(sha256, peaks) }
    const key = await openLogKey(keyring, log)
    await store.advanceLog(tx, { ...head, checkpoint: signCheckpoint(key, { origin: log.origin, ...head }) })
    return leafHashes.length
  })
}
