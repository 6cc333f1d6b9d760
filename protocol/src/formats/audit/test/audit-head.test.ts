import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeSuite } from '../../../signing/receipt-verification.ts'
import { advanceAuditHeads, isAuditHead, readAuditHead, writeAuditHead, type AuditHead } from '../audit-head.ts'
import { parseKeyEvent } from '../../signing/key-event.ts'

const { sha256 } = nodeSuite
const hash = Buffer.alloc(32, 7).toString('base64')
const first: AuditHead = { at: '2030-01-01T12:00:00.000Z', head: hash, previous: null, sequence: 41207 }
const firstLeaf = writeAuditHead(first)
const state = readAuditHead(sha256, firstLeaf)

test('a head of the audit log has one form, and is no key event', () => {
  assert.equal(
    firstLeaf,
    `{"at":"2030-01-01T12:00:00.000Z","event":"audit","head":"${hash}","previous":null,"sequence":41207,"version":2}`,
  )
  assert.ok(isAuditHead(firstLeaf) && state)
  assert.equal(parseKeyEvent(firstLeaf), undefined)
  for (const other of ['', '[]', '{"event":"created"}', ` ${firstLeaf}`.replace('audit', 'created')])
    assert.equal(isAuditHead(other), false, other)
})

test('AUD-08 a leaf in another form, or that does not continue the one before, is an error', () => {
  const malformed: [string, string | RegExp][] = [
    ['41207', '0'],
    ['41207', '1.5'],
    ['41207', '"41207"'],
    ['41207', '9007199254740993'],
    ['"previous":null', '"previous":"AAAA"'],
    ['2030-01-01T12:00:00.000Z', '2030-01-01T12:00:00Z'],
    [hash, hash.slice(1)],
    ['"version":2', '"version":3'],
    ['{', '{ '],
  ]
  for (const [from, to] of malformed)
    assert.equal(
      advanceAuditHeads(sha256, undefined, firstLeaf.replace(from, String(to))),
      'malformed_leaf',
      String(to),
    )

  const next: AuditHead = { ...first, at: '2030-01-02T12:00:00.000Z', sequence: 41208, previous: state?.leafHash ?? '' }
  const advance = (changes: Partial<AuditHead>) =>
    advanceAuditHeads(sha256, state, writeAuditHead({ ...next, ...changes }))
  assert.partialDeepStrictEqual(advance({}), { sequence: 41208 })
  assert.equal(advance({ previous: null }), 'broken_chain')
  assert.equal(advance({ previous: hash }), 'broken_chain')
  assert.equal(advance({ at: '2029-12-31T12:00:00.000Z' }), 'time_went_back')
  assert.equal(advance({ sequence: 41207 }), 'place_went_back')
  assert.equal(advanceAuditHeads(sha256, undefined, writeAuditHead(next)), 'broken_chain')
})
