import { hash } from 'node:crypto'
import { actsDigest, detailsDigest, trailHead } from '@countersign/protocol/formats/acts/act'
import type { LinkedEntry } from '@countersign/protocol/formats/acts/follow-trail'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { type JsonObject, writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import type { ShownAct } from '../statement.ts'

export const sha256 = (bytes: Uint8Array) => new Uint8Array(hash('sha256', bytes, 'buffer'))
export const issuer = 'https://auth.example.com'
export const organizationId = '01934c2e-7a00-7abc-8def-00000000ac3e'
const identityId = '01934c2e-7a00-7abc-8def-0123456789ab'

export const shown: ShownAct = {
  ...{ actId: '01934c2e-7a00-7abc-8def-00000000ac7a', organizationId, identityId, role: 'sign' },
  action: 'organization.member.updated',
  details: {
    organizationId,
    memberId: '01934c2e-7a00-7abc-8def-0123456789ac',
    role: 'admin',
    from: { role: 'viewer' },
  },
  salt: 'dIpRczxbH/7eEFQBdOEYZQ==',
  proposal: null,
}

/** The instant `minutes` after noon. */
export const at = (minutes: number) => new Date(Date.UTC(2030, 0, 1, 12) + minutes * 60_000).toISOString()

/** The statement that an honest service writes for an act, with changes. */
export function stateFor(act: ShownAct, changes: JsonObject = {}): string {
  const salt = fromCanonicalBase64(act.salt) ?? new Uint8Array()
  return writeCanonicalJson({
    ...{ version: 2, issuer, organizationId, identityId: act.identityId, keyVersion: 2, role: act.role },
    ...{ action: act.action, details: detailsDigest(sha256, act.details, salt), proposal: null, previousAct: null },
    ...{ nonce: 'yJI4UjbXikDoaBYhIHk-MOGG9uUWMhPEkkY2c-Fqxao', trail: { head: null, sequence: 0 } },
    ...{ at: at(3), expiresAt: at(8), ...changes },
  })
}

/** The statement of an act, of which the trail shows the order and the time. */
export const actAfter = (previousAct: string | null, minute: number) =>
  writeCanonicalJson({ previousAct, at: at(minute), expiresAt: at(minute + 5) })

/** A trail of entries, each with or without a signed statement, from a head on. Entries are a minute apart. */
export function trailOf(statements: (string | undefined)[], from: { sequence: number; head: string | null }) {
  const entries: LinkedEntry[] = []
  let { sequence, head } = from
  for (const statement of statements) {
    sequence += 1
    const signed = {
      presence: Buffer.alloc(32, 1).toString('base64'),
      signature: Buffer.alloc(64, 2).toString('base64'),
    }
    const acts = statement === undefined ? [] : [{ statement, ...signed }]
    const entry: JsonObject = {
      ...{ version: 2, organizationId, sequence, previous: head, at: at(sequence), action: 'organization.updated' },
      ...{ actor: 'user', details: 'A'.repeat(43) + '=', acts: actsDigest(sha256, acts) ?? '' },
    }
    head = trailHead(sha256, entry)
    entries.push({ entry: writeCanonicalJson(entry), acts })
  }
  return { entries, end: { sequence, head } }
}
