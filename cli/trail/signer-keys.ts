import { type NoteKey } from '@countersign/protocol/formats/signing/checkpoint'
import { containsLeaf, verifyCheckpoint } from '@countersign/protocol/formats/signing/key-inclusion'
import {
  type IndexedLeaf,
  type KeyHistory,
  listMissingKeyProofs,
  type MissingKeyProof,
  readKeyHistory,
} from '@countersign/protocol/formats/signing/key-history'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { wasInForce } from '@countersign/protocol/signing/receipt-keys'
import { parseJsonResponse, reach } from '../call.ts'
import type { Settings } from '../settings.ts'
import { CliError, fieldsOf, listOf, textOf } from '../terminal.ts'

/** An identity has 200 keys at most, each with two leaves, and one of its end. */
const leavesMax = 600

/**
 * Keys of those who signed, from the log whose key is trusted. `publicKeyOf` returns a key that was in force at an
 * instant, of an identity that was fetched. `listUnproved` names the keys it returned that lack proofs by their owners.
 */
export type SignerKeys = {
  fetch: (identityId: string) => Promise<void>
  publicKeyOf: (identityId: string, keyVersion: number, at: string) => string | undefined
  listUnproved: () => { identityId: string; keyVersion: number; missing: MissingKeyProof[] }[]
}

export function createSignerKeys(settings: Settings, log: NoteKey): SignerKeys {
  const histories = new Map<string, KeyHistory>()
  const used = new Map<string, { identityId: string; keyVersion: number; missing: MissingKeyProof[] }>()
  return {
    async fetch(identityId) {
      if (!histories.has(identityId)) histories.set(identityId, await fetchHistory(settings, log, identityId))
    },
    publicKeyOf(identityId, keyVersion, at) {
      const history = histories.get(identityId)
      const key = history?.keys.find((each) => each.keyVersion === keyVersion)
      if (!history || !key || !wasInForce(key, Date.parse(at))) return undefined
      used.set(`${identityId} ${keyVersion}`, {
        identityId,
        keyVersion,
        missing: listMissingKeyProofs(history, keyVersion),
      })
      return key.publicKey
    },
    listUnproved: () => [...used.values()].filter(({ missing }) => missing.length > 0),
  }
}

/** Fetches the key history of an identity. Throws a `CliError` if the log with this key does not prove one. */
async function fetchHistory({ baseUrl }: Settings, log: NoteKey, identityId: string): Promise<KeyHistory> {
  const url = new URL(`/api/transparency/identities/${encodeURIComponent(identityId)}`, baseUrl)
  const leaves: IndexedLeaf[] = []
  for (let start: number | null = 0; start !== null;) {
    url.searchParams.set('start', String(start))
    const page = readPage(fieldsOf(await fetchOk(url.href)))
    const head = verifyCheckpoint(nodeSuite, page.checkpoint, log)
    if (!head) throw new CliError(`the log of ${baseUrl} is not signed by the key in the trust file`)
    for (const event of page.events)
      if (!containsLeaf(nodeSuite.sha256, head, event))
        throw new CliError(`the log does not contain a key that the server names for ${identityId}`)
    leaves.push(...page.events)
    if (leaves.length > leavesMax || (page.events.length === 0 && page.nextStart !== null))
      throw new CliError(`the server returned too many keys of ${identityId}`)
    start = page.nextStart
  }
  const history = readKeyHistory(nodeSuite, { log: log.name, identityId, leaves })
  if ('error' in history) throw new CliError(`the log proves no key of ${identityId} (${history.error})`)
  return history
}

async function fetchOk(url: string): Promise<unknown> {
  const response = await reach(url)
  if (!response.ok) throw new CliError(`${url} returned ${response.status}`)
  return parseJsonResponse(response)
}

function readPage({ checkpoint, events, nextStart }: Record<string, unknown>) {
  return {
    checkpoint: textOf(checkpoint),
    events: listOf(events).map((event) => {
      const { index, leaf, hashes } = fieldsOf(event)
      return { index: Number(index), leaf: textOf(leaf), hashes: listOf(hashes).map(textOf) }
    }),
    nextStart: typeof nextStart === 'number' ? nextStart : null,
  }
}
