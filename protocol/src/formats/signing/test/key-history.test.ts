import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import fastCheck from 'fast-check'
import { nodeSuite } from '../../../signing/receipt-verification.ts'
import { writeCanonicalJson } from '../canonical-json.ts'
import { parseVerifierKey, readCheckpoint, writeVerifierKey } from '../checkpoint.ts'
import { containsLeaf, verifyCheckpoint } from '../key-inclusion.ts'
import {
  identityDigest,
  keyEventKinds,
  keyLinkMessage,
  keyPossessionMessage,
  parseKeyEvent,
  type ProvedKeyEvent,
} from '../key-event.ts'
import { advanceKeyHistory, listMissingKeyProofs, readKeyHistory, type KeyHistory } from '../key-history.ts'
import { hashOf, leafOf, log, testKey } from './key-chain.ts'
import vectors from './key-history.vectors.json' with { type: 'json' }

const { identityId } = vectors
const other = '01934c2e-7a00-7abc-8def-0123456789ac'
const identity = identityDigest(nodeSuite.sha256, identityId)
const [first, second, third, bob, evil] = ['ada 1', 'ada 2', 'ada 3', 'bob 1', 'evil'].map(testKey)
assert.ok(first && second && third && bob && evil)
const at = (minute: number) => `2030-01-01T12:0${minute}:00.000Z`

const created: ProvedKeyEvent = {
  event: 'created',
  identity,
  keyVersion: 1,
  previous: null,
  publicKey: first.publicKey,
}
const leaf1 = leafOf(at(0), created, { possession: first })
const rotated: ProvedKeyEvent = {
  event: 'rotated',
  identity,
  keyVersion: 2,
  previous: hashOf(leaf1),
  publicKey: second.publicKey,
}
const leaf2 = leafOf(at(2), rotated, { link: first, possession: second })
const unproved1 = leafOf(at(0), created, {})
const unproved2 = leafOf(at(2), rotated, {})

const readAll = (...leaves: string[]) =>
  readKeyHistory(nodeSuite, { log, identityId, leaves: leaves.map((leaf, nth) => ({ index: 10 + nth * 7, leaf })) })
function errorOf(...leaves: string[]): unknown {
  const found = readAll(...leaves)
  return 'error' in found ? `${found.error} ${found.position}` : undefined
}
function historyOf(...leaves: string[]): KeyHistory {
  const found = readAll(...leaves)
  assert.ok('keys' in found, JSON.stringify(found))
  return found
}
const missingOf = (keyVersion: number, ...leaves: string[]) => listMissingKeyProofs(historyOf(...leaves), keyVersion)
const replaced = (leaf: string, fields: object) => writeCanonicalJson({ ...JSON.parse(leaf), ...fields })

test('leaves and messages of a history are the bytes that another implementation computes', () => {
  assert.equal(leaf1, vectors.leaf1)
  assert.equal(hashOf(leaf1), vectors.leaf1Hash)
  assert.equal(Buffer.from(keyLinkMessage(log, rotated)).toString('hex'), vectors.linkMessageHex)
  assert.equal(hash('sha256', keyPossessionMessage(log, rotated)), vectors.possessionMessageSha256)
  assert.equal(leaf2, vectors.leaf2)
  assert.equal(hashOf(leaf2), vectors.leaf2Hash)
})

test('a history of proved keys has no error, and says when each key was in force', () => {
  const removed = leafOf(at(3), { ...rotated, event: 'removed', previous: hashOf(leaf2) }, {})
  const proved = { hasPossession: true, isLinked: true }
  const { keys, state } = historyOf(leaf1, leaf2, removed)
  assert.deepEqual(keys, [
    { index: 10, keyVersion: 1, publicKey: first.publicKey, ...proved, createdAt: at(0), endedAt: at(2) },
    { index: 17, keyVersion: 2, publicKey: second.publicKey, ...proved, createdAt: at(2), endedAt: at(3) },
  ])
  assert.deepEqual([state.event, state.head, state.formerPublicKey], ['removed', hashOf(removed), first.publicKey])
  assert.deepEqual(missingOf(2, leaf1, leaf2), [])
})

test('KEY-13 a rotation that the former key has not signed is reported, and a link by another key is an error', () => {
  const forged = { ...rotated, publicKey: evil.publicKey }
  assert.deepEqual(missingOf(2, leaf1, leafOf(at(2), forged, { possession: evil })), ['unlinked_key'])
  assert.deepEqual(missingOf(1, leaf1, leafOf(at(2), forged, { possession: evil })), [])
  assert.equal(errorOf(leaf1, leafOf(at(2), forged, { link: evil, possession: evil })), 'unlinked_key 1')
  assert.equal(errorOf(leaf1, leafOf(at(2), forged, { link: bob, possession: evil })), 'unlinked_key 1')
  // The link that the former key signed for another key, and its possession of itself.
  const { link } = JSON.parse(leaf2)
  assert.equal(errorOf(leaf1, leafOf(at(2), forged, { link, possession: evil })), 'unlinked_key 1')
  const ownPossession = first.sign(keyPossessionMessage(log, rotated))
  assert.equal(errorOf(leaf1, leafOf(at(2), rotated, { link: ownPossession, possession: second })), 'unlinked_key 1')
})

test('KEY-14 a key whose owner has not signed is reported, and possession of another key or identity is wrong', () => {
  assert.deepEqual(missingOf(1, unproved1), ['no_possession'])
  const foreign = { ...created, publicKey: bob.publicKey }
  assert.equal(errorOf(leafOf(at(0), foreign, { possession: evil })), 'no_possession 0')
  const asBob = { ...created, identity: identityDigest(nodeSuite.sha256, other) }
  const possession = first.sign(keyPossessionMessage(log, asBob))
  assert.equal(errorOf(leafOf(at(0), created, { possession })), 'no_possession 0')
  const elsewhere = first.sign(keyPossessionMessage('other.example/transparency', created))
  assert.equal(errorOf(leafOf(at(0), created, { possession: elsewhere })), 'no_possession 0')
  const linked = first.sign(keyLinkMessage(log, created))
  assert.equal(errorOf(leafOf(at(0), created, { possession: linked })), 'no_possession 0')
  assert.equal(errorOf(leafOf(at(0), asBob, { possession: first })), 'other_identity 0')
})

test('KEY-15 a version is neither skipped nor used twice', () => {
  const again = { ...created, previous: hashOf(leaf1), publicKey: evil.publicKey }
  assert.equal(errorOf(leaf1, leafOf(at(3), again, { possession: evil })), 'version_twice 1')
  const third2 = leafOf(at(3), { ...rotated, previous: hashOf(leaf2) }, { link: second, possession: second })
  assert.equal(errorOf(leaf1, leaf2, third2), 'version_twice 2')
  const skipped = leafOf(at(2), { ...rotated, keyVersion: 3 }, { link: first, possession: second })
  assert.equal(errorOf(leaf1, skipped), 'version_gap 1')
  assert.equal(errorOf(leaf2), 'version_gap 0')
  assert.equal(errorOf(), 'version_gap 0')
  const adoption = { ...created, event: 'adopted' as const }
  assert.equal(errorOf(leafOf(at(0), adoption, { possession: first })), 'version_gap 0')
  const former = leafOf(at(3), { ...adoption, previous: hashOf(leaf2) }, { possession: first })
  assert.equal(errorOf(leaf1, leaf2, former), 'version_twice 2')
  const foreign = { ...adoption, previous: hashOf(leaf1), publicKey: evil.publicKey }
  assert.equal(errorOf(leaf1, leafOf(at(3), foreign, { possession: evil })), 'version_twice 1')
})

test('KEY-16 each leaf names the one before it, in the order of the log', () => {
  const elsewhere = leafOf(at(2), { ...rotated, previous: hashOf(unproved1) }, { link: first, possession: second })
  assert.equal(errorOf(leaf1, elsewhere), 'broken_chain 1')
  assert.equal(errorOf(leafOf(at(0), { ...created, previous: hashOf(leaf1) }, { possession: first })), 'broken_chain 0')
  assert.equal(errorOf(leaf1, leafOf(at(2), { ...rotated, previous: null }, {})), 'broken_chain 1')
  const disordered = [
    { index: 7, leaf: leaf1 },
    { index: 7, leaf: leaf2 },
  ]
  assert.deepEqual(readKeyHistory(nodeSuite, { log, identityId, leaves: disordered }), {
    error: 'broken_chain',
    position: 1,
  })
})

test('KEY-17 nothing follows a removal, and no leaf is older than the one before it', () => {
  const removed = leafOf(at(1), { ...created, event: 'removed', previous: hashOf(leaf1) }, {})
  const later = { ...rotated, previous: hashOf(removed) }
  assert.equal(errorOf(leaf1, removed, leafOf(at(2), later, { link: first, possession: second })), 'after_removal 2')
  const early = leafOf('2030-01-01T11:59:59.999Z', rotated, { link: first, possession: second })
  assert.equal(errorOf(leaf1, early), 'time_went_back 1')
})

test('KEY-18 a leaf has one spelling, all of its fields and no others, and a known event', () => {
  for (const leaf of [
    leaf1.replace('":', '" :'),
    `${leaf1}\n`,
    replaced(leaf1, { note: '' }),
    replaced(leaf1, { version: 1 }),
    replaced(leaf1, { version: '2' }),
    replaced(leaf1, { at: '2030-01-01T12:00:00Z' }),
    replaced(leaf1, { at: '+02030-01-01T12:00:00.000Z' }),
    replaced(leaf1, { at: '2030-01-01T24:00:00.000Z' }),
    replaced(leaf1, { keyVersion: 0 }),
    replaced(leaf1, { keyVersion: '1' }),
    replaced(leaf1, { publicKey: Buffer.alloc(32).toString('base64') }),
    replaced(leaf1, { publicKey: first.publicKey.replace('=', '') }),
    replaced(leaf1, { possession: 'AAAA' }),
    replaced(leaf1, { previous: '' }),
    replaced(leaf1, { event: null }),
    // What each event needs.
    replaced(leaf1, { keyVersion: 2 }),
    replaced(leaf1, { link: JSON.parse(leaf1).possession }),
    replaced(leaf2, { keyVersion: 1 }),
    replaced(leaf1, { event: 'removed' }),
    replaced(leaf1, { event: 'adopted', possession: null }),
    replaced(leaf1, { event: 'adopted', link: JSON.parse(leaf1).possession }),
    replaced(leaf1, { event: 'recovered' }),
    replaced(leaf2, { event: 'recovered' }),
    replaced(leaf2, { event: 'recovered', link: null, possession: null }),
    '{}',
    '[]',
    'null',
    '',
  ])
    assert.equal(errorOf(leaf), 'malformed_leaf 0', leaf)
  for (const event of ['Recovered', 'format', 'trail', 'Created', ''])
    assert.equal(errorOf(replaced(leaf1, { event })), 'unknown_event 0', event)
})

test('KEY-19 proofs in a second encoding, or by a key of small order, prove nothing', () => {
  const identityPoint = Buffer.from(Uint8Array.of(1, ...Array.from({ length: 31 }, () => 0))).toString('base64')
  assert.equal(errorOf(replaced(leaf1, { publicKey: identityPoint })), 'malformed_leaf 0')
  const bytes = Buffer.from(JSON.parse(leaf1).possession, 'base64')
  const scalar = BigInt(`0x${Buffer.from(bytes.subarray(32).toReversed()).toString('hex')}`)
  const larger = (scalar + 2n ** 252n + 27742317777372353535851937790883648493n).toString(16).padStart(64, '0')
  const possession = Buffer.concat([bytes.subarray(0, 32), Buffer.from(larger, 'hex').toReversed()]).toString('base64')
  assert.equal(errorOf(replaced(leaf1, { possession })), 'no_possession 0')
})

test('KEY-20 an adoption proves a key that was made without proofs, once', () => {
  const adoption: ProvedKeyEvent = { ...created, event: 'adopted', previous: hashOf(unproved1) }
  const adopted = leafOf(at(1), adoption, { possession: first })
  assert.equal(adopted, vectors.adopted)
  assert.deepEqual(missingOf(1, unproved1, adopted), [])
  const again = leafOf(at(2), { ...adoption, previous: hashOf(adopted) }, { possession: first })
  assert.equal(errorOf(unproved1, adopted, again), 'version_twice 2')
  assert.equal(errorOf(unproved1, leafOf(at(1), adoption, { possession: evil })), 'no_possession 1')
  // A possession of the creation is none of the adoption.
  const { possession } = JSON.parse(leaf1)
  assert.equal(errorOf(unproved1, leafOf(at(1), adoption, { possession })), 'no_possession 1')
})

test('KEY-21 an adoption closes the break before its key alone, by the former key over its own leaf', () => {
  const adoption: ProvedKeyEvent = { ...rotated, event: 'adopted', previous: hashOf(unproved2) }
  const closed = leafOf(at(3), adoption, { link: first, possession: second })
  assert.equal(closed, vectors.adoptedWithLink)
  assert.deepEqual(missingOf(2, leaf1, unproved2, closed), [])
  const open = leafOf(at(3), adoption, { possession: second })
  assert.deepEqual(missingOf(2, leaf1, unproved2, open), ['unlinked_key'])
  for (const link of [second, evil, first.sign(keyLinkMessage(log, rotated))])
    assert.equal(errorOf(leaf1, unproved2, leafOf(at(3), adoption, { link, possession: second })), 'unlinked_key 2')
  // The break before a replaced key stays for ever.
  const next = { ...rotated, keyVersion: 3, publicKey: third.publicKey, previous: hashOf(unproved2) }
  const leaf3 = leafOf(at(3), next, { link: second, possession: third })
  const last = { ...next, event: 'adopted' as const, previous: hashOf(leaf3) }
  assert.equal(
    errorOf(leaf1, unproved2, leaf3, leafOf(at(4), last, { link: first, possession: third })),
    'unlinked_key 3',
  )
  const unclosed = [leaf1, unproved2, leaf3, leafOf(at(4), last, { link: second, possession: third })]
  assert.deepEqual(missingOf(3, ...unclosed), ['unlinked_key'])
})

test('KEY-34 a key that was replaced never returns, also if its successor links it again', () => {
  // A service that shows a stolen key to its owner's page as the current one gets such a link.
  const back: ProvedKeyEvent = { ...rotated, keyVersion: 3, publicKey: first.publicKey, previous: hashOf(leaf2) }
  const returned = leafOf(at(3), back, {})
  const adoption: ProvedKeyEvent = { ...back, event: 'adopted', previous: hashOf(returned) }
  const adopted = leafOf(at(4), adoption, { link: second, possession: first })
  assert.equal(errorOf(leaf1, leaf2, returned, adopted), 'key_used_before 2')
  const twice: ProvedKeyEvent = { ...rotated, publicKey: first.publicKey }
  assert.equal(errorOf(leaf1, leafOf(at(2), twice, { link: first, possession: first })), 'key_used_before 1')
  const next = { ...rotated, keyVersion: 3, publicKey: third.publicKey, previous: hashOf(leaf2) }
  const leaf3 = leafOf(at(3), next, { link: second, possession: third })
  const last = { ...back, keyVersion: 4, previous: hashOf(leaf3) }
  assert.equal(
    errorOf(leaf1, leaf2, leaf3, leafOf(at(4), last, { link: third, possession: first })),
    'key_used_before 3',
  )
})

/** A key after a recovery: its owner proves possession, and nothing links it to the key before. */
const recovered: ProvedKeyEvent = { ...rotated, event: 'recovered' }
const recovery2 = leafOf(at(2), recovered, { possession: second })

test('KEY-41 a key after a recovery is linked to no key before it, and stays so after further rotations', () => {
  assert.equal(recovery2, vectors.recovered)
  const { keys, state } = historyOf(leaf1, recovery2)
  assert.deepEqual([state.event, state.isLinked, state.hasPossession], ['recovered', false, true])
  assert.equal(keys[0]?.endedAt, at(2))
  assert.deepEqual(missingOf(1, leaf1, recovery2), [])
  assert.deepEqual(missingOf(2, leaf1, recovery2), ['unlinked_key'])
  const next = { ...rotated, keyVersion: 3, publicKey: third.publicKey, previous: hashOf(recovery2) }
  const leaf3 = leafOf(at(3), next, { link: second, possession: third })
  assert.deepEqual(missingOf(3, leaf1, recovery2, leaf3), ['unlinked_key'])
  const again = leafOf(at(4), { ...next, event: 'recovered' }, { possession: third })
  assert.deepEqual(missingOf(3, leaf1, recovery2, again), ['unlinked_key'])
})

test('KEY-41 a recovery proves possession of its own key, in its own place, and brings no key back', () => {
  assert.equal(errorOf(leaf1, leafOf(at(2), recovered, { possession: evil })), 'no_possession 1')
  // What the key has signed for a rotation does not prove a recovery.
  const { possession } = JSON.parse(leaf2)
  assert.equal(errorOf(leaf1, leafOf(at(2), recovered, { possession })), 'no_possession 1')
  const asRotation = replaced(recovery2, { event: 'rotated' })
  assert.equal(errorOf(leaf1, asRotation), 'no_possession 1')
  assert.equal(errorOf(recovery2), 'version_gap 0')
  const same: ProvedKeyEvent = { ...recovered, publicKey: first.publicKey }
  assert.equal(errorOf(leaf1, leafOf(at(2), same, { possession: first })), 'key_used_before 1')
  const stale: ProvedKeyEvent = { ...recovered, keyVersion: 3, publicKey: first.publicKey, previous: hashOf(leaf2) }
  assert.equal(errorOf(leaf1, leaf2, leafOf(at(3), stale, { possession: first })), 'key_used_before 2')
  const twice = leafOf(at(3), { ...recovered, previous: hashOf(leaf2) }, { possession: second })
  assert.equal(errorOf(leaf1, leaf2, twice), 'version_twice 2')
  const removed = leafOf(at(1), { ...created, event: 'removed', previous: hashOf(leaf1) }, {})
  const after = leafOf(at(2), { ...recovered, previous: hashOf(removed) }, { possession: second })
  assert.equal(errorOf(leaf1, removed, after), 'after_removal 2')
})

test('KEY-42 only the key before accepts a key after a recovery, by an adoption, once', () => {
  const adoption: ProvedKeyEvent = { ...recovered, event: 'adopted', previous: hashOf(recovery2) }
  const accepted = leafOf(at(3), adoption, { link: first, possession: second })
  assert.deepEqual(missingOf(2, leaf1, recovery2, accepted), [])
  for (const link of [second, evil, first.sign(keyLinkMessage(log, recovered))])
    assert.equal(errorOf(leaf1, recovery2, leafOf(at(3), adoption, { link, possession: second })), 'unlinked_key 2')
  const open = leafOf(at(3), adoption, { possession: second })
  assert.deepEqual(missingOf(2, leaf1, recovery2, open), ['unlinked_key'])
  const late = leafOf(at(4), { ...adoption, previous: hashOf(open) }, { link: first, possession: second })
  assert.equal(errorOf(leaf1, recovery2, open, late), 'version_twice 3')
})

test('KEY-22 no leaf makes a reader throw, and a history can be continued from what was stored', () => {
  const stored = JSON.parse(JSON.stringify(advanceKeyHistory(nodeSuite, log, undefined, leaf1)))
  assert.deepEqual(advanceKeyHistory(nodeSuite, log, stored, leaf2), historyOf(leaf1, leaf2).state)
  const field = fastCheck.oneof(
    fastCheck.constantFrom(...keyEventKinds, ...Object.values(JSON.parse(leaf1)), ...Object.values(JSON.parse(leaf2))),
    fastCheck.jsonValue(),
  )
  const names = Object.keys(JSON.parse(leaf1))
  const leaf = fastCheck.oneof(
    fastCheck.string(),
    fastCheck.json(),
    fastCheck.record(Object.fromEntries(names.map((name) => [name, field]))).map((value) => JSON.stringify(value)),
    fastCheck
      .tuple(fastCheck.constantFrom(leaf1, leaf2), fastCheck.constantFrom(...names), field)
      .map(([text, name, value]) => JSON.stringify({ ...JSON.parse(text), [name]: value })),
  )
  fastCheck.assert(
    fastCheck.property(fastCheck.array(leaf, { maxLength: 3 }), (leaves) => {
      readAll(leaf1, ...leaves)
      readAll(...leaves)
    }),
  )
  assert.equal(parseKeyEvent('{"event":"\ud800"}'), undefined)
})

test('KEY-35 megabytes in any field of a leaf, a proof or a checkpoint make no reader throw', () => {
  const long = 'A'.repeat(16 * 1024 ** 2)
  for (const name of ['identity', 'link', 'possession', 'previous', 'publicKey'])
    assert.equal(errorOf(replaced(leaf2, { [name]: long })), 'malformed_leaf 0')
  const head = { origin: log, size: 2, root: nodeSuite.sha256(new Uint8Array()) }
  assert.ok(!containsLeaf(nodeSuite.sha256, head, { index: 0, leaf: leaf1, hashes: [long] }))
  assert.equal(readCheckpoint(`${log}\n2\n${long}\n`), undefined)
  assert.equal(
    verifyCheckpoint(nodeSuite, `${log}\n2\n\n\n— ${log} ${long}\n`, { name: log, publicKey: first.raw }),
    undefined,
  )
  assert.equal(parseVerifierKey(nodeSuite.sha256, `${log}+00000000+${long}`), undefined)
  const line = writeVerifierKey(nodeSuite.sha256, { name: long, publicKey: first.raw })
  assert.equal(parseVerifierKey(nodeSuite.sha256, line)?.name, long)
})
