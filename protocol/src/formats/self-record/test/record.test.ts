import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../limits.ts'
import { writeCanonicalJson } from '../../signing/canonical-json.ts'
import { hashOf, testKey } from '../../signing/test/key-chain.ts'
import { addPending } from '../identity-check.ts'
import { readSelfRecord, writeSelfRecord, type PendingKey, type SelfRecord } from '../record.ts'
import { identityId, leafAt, noteOf, fakeLog, promiseFor, verifierKey } from './fake-service.ts'

const since = '2030-01-01T01:00:00.000Z'
const leaf = leafAt(1, testKey('ada 1'), { proofs: { possession: testKey('ada 1') } })
const pendingOf = (nth: number): PendingKey => ({
  publicKey: testKey(`key ${nth}`).publicKey,
  since,
  promised: promiseFor(leaf, since),
})
const record: SelfRecord = {
  version: 1,
  sequence: 3,
  log: { key: verifierKey, checkpoint: noteOf(fakeLog(leaf)) },
  identities: { [identityId]: { head: hashOf(leaf), leaves: 1, pending: [pendingOf(1)] } },
}

test('SLF-15 a record is read as it was written, with members of other versions', () => {
  assert.deepEqual(readSelfRecord(writeSelfRecord(record)), record)
  const later = { ...record, apps: { 'a:b': { envelope: 2 } } }
  assert.deepEqual(readSelfRecord(writeSelfRecord(later)), later)
})

test('SLF-10 a record of a later version, and text of another form, are distinguished', () => {
  assert.equal(readSelfRecord(writeCanonicalJson({ version: 2 })), 'newer_record')
  const broken: object[] = [
    { ...record, version: '1' },
    { ...record, version: 0 },
    { ...record, sequence: 0 },
    { ...record, log: {} },
    { ...record, identities: [] },
    { ...record, identities: { a: { head: null, leaves: 1, pending: [] } } },
    { ...record, identities: { a: { head: hashOf(leaf), leaves: 0, pending: [] } } },
    {
      ...record,
      identities: { a: { head: null, leaves: 0, pending: [{ publicKey: 'a', since: '2030', promised: null }] } },
    },
    { ...record, identities: { a: { head: null, leaves: 0, pending: [{ publicKey: 'a', since, promised: {} }] } } },
  ]
  for (const each of broken)
    assert.equal(readSelfRecord(JSON.stringify(each)), 'malformed_record', JSON.stringify(each))
  for (const text of ['', 'null', ` ${writeSelfRecord(record)}`]) assert.equal(readSelfRecord(text), 'malformed_record')
})

test('SLF-17 the largest record fits, and only the newest key keeps its promise', () => {
  const keys = Array.from({ length: 9 }, (_, nth) => pendingOf(nth))
  const pending = keys.reduce<PendingKey[]>((kept, key) => addPending(kept, [key]), [])
  assert.equal(pending.length, limits.selfRecordPendingMax)
  assert.deepEqual(
    pending.map(({ promised }) => promised !== null),
    [false, false, false, true],
  )
  assert.deepEqual(pending.at(-1), keys.at(-1))
  const ids = Array.from({ length: limits.identitiesPerUserMax }, (_, nth) => `${identityId.slice(0, -2)}${nth + 10}`)
  const entries = ids.map((id) => [id, { head: hashOf(leaf), leaves: 400, pending }] as const)
  const text = writeSelfRecord({ ...record, identities: Object.fromEntries(entries) })
  assert.ok(text.length < limits.selfRecordBytesMax, `${text.length} bytes`)
  const tooMany = { ...record, note: 'x'.repeat(limits.selfRecordBytesMax) }
  assert.throws(() => writeSelfRecord(tooMany), RangeError)
})
