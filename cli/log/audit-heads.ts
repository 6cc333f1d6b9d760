import { advanceAuditHeads, type AuditHeadState } from '@countersign/protocol/formats/audit/audit-head'
import { type NoteKey, parseVerifierKey } from '@countersign/protocol/formats/signing/checkpoint'
import { containsLeaf, verifyCheckpoint } from '@countersign/protocol/formats/signing/key-inclusion'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { ResponseOf } from '@countersign/protocol/api'
import { call } from '../call.ts'
import type { Settings } from '../settings.ts'
import { CliError } from '../terminal.ts'

const { sha256 } = nodeSuite

type Page = ResponseOf<'GET /api/transparency/audit'>

/**
 * Fetches the heads of the audit log from the transparency log, oldest first, and verifies that they are in it. Without
 * `key`, the key that the server names is believed.
 */
export async function fetchAuditHeads(settings: Settings, key: NoteKey | undefined): Promise<AuditHeadState[]> {
  const logKey = key ?? (await fetchKey(settings))
  const found: AuditHeadState[] = []
  for (let start: number | null = 0; start !== null;) {
    const page: Page = await call(settings, 'GET /api/transparency/audit', { querystring: { start: String(start) } })
    const checkpoint = verifyCheckpoint(nodeSuite, page.checkpoint, logKey)
    if (!checkpoint) throw new CliError(`the checkpoint is not signed by the key of the log ${logKey.name}`)
    for (const logged of page.heads) {
      if (!containsLeaf(sha256, checkpoint, logged))
        throw new CliError(`entry ${logged.index} is not in the transparency log`)
      const next = advanceAuditHeads(sha256, found.at(-1), logged.leaf)
      if (typeof next === 'string') throw new CliError(`entry ${logged.index} of the log is wrong: ${next}`)
      found.push(next)
    }
    if (page.nextStart !== null && page.nextStart <= start) throw new CliError('the server does not continue its list')
    start = page.nextStart
  }
  return found
}

async function fetchKey(settings: Settings): Promise<NoteKey> {
  const { verifierKey } = await call(settings, 'GET /api/transparency/jwks', {})
  const key = parseVerifierKey(sha256, verifierKey)
  if (!key) throw new CliError('the server does not return the key of its log')
  return key
}
