import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { nodeSuite } from '../../../signing/receipt-verification.ts'
import {
  findPromiseError,
  inclusionPromiseMessage,
  type InclusionPromise,
  type SignedInclusionPromise,
} from '../inclusion-promise.ts'
import { log, testKey } from './key-chain.ts'
import vectors from './key-history.vectors.json' with { type: 'json' }

const [key, evil] = [testKey('log'), testKey('evil')]
const promise: InclusionPromise = {
  due: '2030-01-02T12:02:00.000Z',
  issued: '2030-01-01T12:02:00.000Z',
  leaf: vectors.leaf2Hash,
  log,
}
const signed = (fields: Partial<InclusionPromise> = {}, by = key): SignedInclusionPromise => ({
  ...promise,
  ...fields,
  signature: by.sign(inclusionPromiseMessage({ ...promise, ...fields })),
})
const errorOf = (given: SignedInclusionPromise, leaf = vectors.leaf2) =>
  findPromiseError(nodeSuite, given, { leaf, logKey: { name: log, publicKey: key.raw } })

test('a promise is the bytes that another implementation computes', () => {
  assert.equal(hash('sha256', inclusionPromiseMessage(promise)), vectors.promiseMessageSha256)
  assert.deepEqual(signed(), vectors.promise)
  assert.equal(errorOf(signed()), undefined)
})

test('TLG-11 a promise counts for its leaf, its log and its key alone, and for one day', () => {
  assert.equal(errorOf(signed(), vectors.leaf1), 'other_leaf')
  assert.equal(errorOf(signed({ log: 'other.example/transparency' })), 'other_log')
  assert.equal(errorOf(signed({}, evil)), 'invalid_promise')
  assert.equal(errorOf({ ...signed(), issued: '2030-01-01T12:02:00.001Z' }), 'other_due')
  assert.equal(errorOf(signed({ due: '2130-01-02T12:02:00.000Z' })), 'other_due')
  assert.equal(errorOf(signed({ due: '2030-01-02T12:02Z' })), 'malformed_promise')
  assert.equal(errorOf(signed({ issued: '' })), 'malformed_promise')
  const later = { due: '2030-01-03T12:02:00.000Z', issued: '2030-01-02T12:02:00.000Z' }
  assert.equal(errorOf({ ...signed(), ...later }), 'invalid_promise')
  assert.equal(errorOf({ ...signed(), signature: '' }), 'invalid_promise')
})
