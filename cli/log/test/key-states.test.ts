import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { keyEventKinds } from '@countersign/protocol/formats/signing/key-event'
import { KeyStates } from '../key-states.ts'

const key = Buffer.alloc(32, 1).toString('base64')
const state = {
  ...{ head: key, publicKey: key, formerPublicKey: null, at: '2030-01-01T12:00:00.000Z', keyVersion: 1 },
  ...{ event: 'created' as const, hasPossession: false, isLinked: true },
}

/** Returns the processor time of storing as many identities with these digests, in microseconds. */
function costOf(count: number, digestOf: (nth: number) => Buffer): number {
  const states = new KeyStates()
  const before = process.cpuUsage()
  for (let nth = 0; nth < count; nth += 1) {
    const identity = digestOf(nth).toString('base64')
    assert.equal(states.find(identity), undefined)
    states.set({ ...state, identity })
  }
  const { user, system } = process.cpuUsage(before)
  assert.equal(states.count, count)
  return user + system
}

/** Digests that differ in one bit of each word of so many bytes: the upper one, which a product keeps least of. */
const digestsOf = (wordBytes: number, bits: number) => (nth: number) => {
  const digest = Buffer.alloc(32)
  for (let bit = 0; bit < 16; bit += 1) {
    const place = (Math.floor(bit / bits) * wordBytes + wordBytes - 1) % 32
    digest[place] = (digest[place] ?? 0) | (((nth >> bit) & 1) << (7 - (bit % bits)))
  }
  return digest
}

test('TLG-17 digests that a service chooses cost log watch no more than others', () => {
  const count = 10_000
  const honest = () => randomBytes(32)
  costOf(1000, honest)
  const usual = Math.min(costOf(count, honest), costOf(count, honest))
  for (const [wordBytes, bits] of [
    [4, 2],
    [4, 4],
    [2, 1],
    [2, 4],
    [1, 1],
  ] as const) {
    const cost = Math.min(costOf(count, digestsOf(wordBytes, bits)), costOf(count, digestsOf(wordBytes, bits)))
    assert.ok(cost < 8 * usual, `${cost} and ${usual} microseconds, words of ${wordBytes} bytes`)
  }
})

test('the states of many identities are found again, also after they were stored', () => {
  const identities = Array.from({ length: 12_000 }, () => randomBytes(32).toString('base64'))
  const versions = [...identities.entries()]
  const states = new KeyStates()
  const store = (to: KeyStates, [nth, identity]: [number, string]) =>
    to.set({ ...state, identity, keyVersion: nth + 1 })
  const restore = (from: KeyStates) => KeyStates.readAll(Buffer.concat([...from.pieces()]))
  for (const each of versions.slice(0, 8192)) store(states, each)
  const half = restore(states)
  for (const each of versions.slice(8192)) store(half, each)
  const read = restore(half)
  assert.equal(read.count, identities.length)
  for (const [nth, identity] of identities.entries())
    assert.deepEqual(read.find(identity), { ...state, identity, keyVersion: nth + 1 })
})

test('every event of a key is kept with what is proved of it, and a key after a recovery counts as unproved', () => {
  const states = new KeyStates()
  const all = keyEventKinds.flatMap((event) =>
    [true, false].flatMap((hasPossession) =>
      [true, false].flatMap((isLinked) =>
        [key, null].map((formerPublicKey) => ({
          ...{ ...state, event, hasPossession, isLinked, formerPublicKey },
          identity: randomBytes(32).toString('base64'),
        })),
      ),
    ),
  )
  for (const each of all) states.set(each)
  const read = KeyStates.readAll(Buffer.concat([...states.pieces()]))
  for (const each of all) assert.deepEqual(read.find(each.identity), each)
  const recovered = new KeyStates()
  recovered.set({ ...state, identity: key, event: 'recovered', hasPossession: true, isLinked: false })
  assert.equal(recovered.countUnproved(), 1)
})
