import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cp, mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { writeVerifierKey } from '@countersign/protocol/formats/signing/checkpoint'
import * as acting from '../protocol/src/signing/acts/test/acting.ts'
import { vector } from '../protocol/src/signing/acts/test/vector.ts'
import vectors from '../protocol/src/formats/signing/test/key-history.vectors.json' with { type: 'json' }
import type { ResponseOf } from '@countersign/protocol/api'
import {
  addLeaf,
  checkpointOf,
  consistencyOf,
  createLog,
  eventsOf,
  newKeyPair,
  sha256,
} from '../server/testing/lying-log.ts'
import { ask, createRemoteSigner, registerRemoteApp } from '../server/testing/remote-signer.ts'
import { serveHere } from '../server/testing/service-here.ts'
import { createCountersign, createMemoryTrustStore } from '../sdk/src/server/server.ts'

const run = promisify(execFile)
const files = join(import.meta.dirname, 'trust')
const xMod = 'golang.org/x/mod@v0.30.0'

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>
before(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'countersign-verifiers-'))
  await run('python3', ['-m', 'venv', join(folder.path, 'venv')])
  const requirements = join(files, 'requirements.txt')
  await run(join(folder.path, 'venv/bin/python'), ['-m', 'pip', 'install', '--quiet', '-r', requirements])
  await cp(join(files, 'verify.go'), join(folder.path, 'verify.go'))
  await go('mod', 'init', 'example.com/verify')
  await go('get', xMod)
  await go('build', '-o', 'verifier', '.')
})
after(() => folder[Symbol.asyncDispose]())

function go(...options: string[]) {
  return run('go', options, { cwd: folder.path, env: { ...process.env, GOFLAGS: '-mod=mod' } })
}

/** Runs a program with cases on its standard input; returns its results. */
async function verify(program: string, options: string[], cases: object[]): Promise<string[]> {
  const running = run(program, options, { maxBuffer: 64 * 1024 ** 2 })
  running.child.stdin?.end(JSON.stringify(cases))
  return JSON.parse((await running).stdout)
}
const inPython = (cases: object[]) => verify(join(folder.path, 'venv/bin/python'), [join(files, 'verify.py')], cases)
const inGo = (cases: object[]) => verify(join(folder.path, 'verifier'), [], cases)

const logKey = { name: vectors.log, publicKey: Buffer.from(vectors.logPublicKey, 'base64') }
const verifierKey = writeVerifierKey(sha256, logKey)

/** A log with other leaves, and the history of an identity in it. */
function historyOf(identityId: string, leaves: string[], log = createLog(vectors.log)) {
  addLeaf(log, randomUUID(), newKeyPair(), { event: 'created' })
  for (const leaf of leaves) {
    log.leaves.push(leaf)
    addLeaf(log, randomUUID(), newKeyPair(), { event: 'created' })
  }
  return caseOf(log, identityId)
}

function caseOf(log: ReturnType<typeof createLog>, identityId: string) {
  const events = eventsOf(log, identityId)
  return { kind: 'history', identityId, verifierKey: log.trusted.verifierKey, checkpoint: checkpointOf(log), events }
}

test('TRU-25 an implementation in Python accepts the histories and promises of the vectors', async () => {
  const { identityId, leaf1, leaf2, unproved1, unproved2, adopted, adoptedWithLink, promise } = vectors
  const chains = [[leaf1], [leaf1, leaf2], [unproved1, adopted], [leaf1, unproved2, adoptedWithLink]]
  const histories = chains.map((leaves) => historyOf(identityId, leaves))
  const promised = { kind: 'promise', verifierKey, leaf: leaf2, promise }
  assert.deepEqual(await inPython([...histories, promised]), ['ok', 'ok', 'ok', 'ok', 'ok'])
})

test('TRU-25 an implementation in Python refuses changed histories and promises', async () => {
  const { identityId, leaf1, leaf2, unproved1, unproved2, recovered, promise } = vectors
  const changed = (leaf: string, fields: object) => JSON.stringify({ ...JSON.parse(leaf), ...fields })
  const { possession, link } = JSON.parse(leaf2)
  const good = historyOf(identityId, [leaf1, leaf2])
  const withLeaf = (fields: object) => {
    const [first, ...rest] = good.events
    return { ...good, events: [{ ...first, leaf: changed(leaf1, fields) }, ...rest] }
  }
  const promised = { kind: 'promise', verifierKey, leaf: leaf2, promise }
  const [log, stolen, next] = [createLog(), newKeyPair(), newKeyPair()]
  addLeaf(log, identityId, stolen, { event: 'created' })
  addLeaf(log, identityId, next, { event: 'rotated', linkedBy: stolen })
  addLeaf(log, identityId, stolen, { event: 'rotated', linkedBy: next })
  const cases: [string, object][] = [
    ['key_used_before', caseOf(log, identityId)],
    ['key_not_proved', historyOf(identityId, [unproved1])],
    ['key_not_proved', historyOf(identityId, [leaf1, unproved2])],
    ['unlinked_key', historyOf(identityId, [leaf1, changed(leaf2, { link: possession })])],
    ['no_possession', historyOf(identityId, [leaf1, changed(leaf2, { possession: link })])],
    ['broken_chain', historyOf(identityId, [leaf1, changed(leaf2, { previous: vectors.leaf2Hash })])],
    ['version_gap', historyOf(identityId, [leaf2])],
    ['version_twice', historyOf(identityId, [leaf1, leaf1])],
    ['time_went_back', historyOf(identityId, [leaf1, changed(leaf2, { at: '2029-01-01T12:00:00.000Z' })])],
    ['unknown_event', withLeaf({ event: 'Recovered' })],
    ['malformed_leaf', withLeaf({ event: 'recovered' })],
    ['key_not_proved', historyOf(identityId, [leaf1, recovered])],
    ['no_possession', historyOf(identityId, [leaf1, changed(recovered, { possession })])],
    ['no_possession', historyOf(identityId, [leaf1, changed(recovered, { event: 'rotated' })])],
    ['malformed_leaf', withLeaf({ at: '2030-01-01T12:00:00Z' })],
    ['malformed_leaf', withLeaf({ version: 1 })],
    ['malformed_leaf', withLeaf({ publicKey: Buffer.alloc(32).toString('base64') })],
    ['key_not_proved', withLeaf({ at: '2030-01-01T12:00:00.001Z' })],
    ['key_not_proved', { ...good, identityId: randomUUID() }],
    ['key_not_proved', { ...good, events: good.events.map((event) => ({ ...event, index: 0 })) }],
    ['unknown_log', { ...good, verifierKey }],
    ['unknown_log', { ...good, checkpoint: good.checkpoint.replace('\n5\n', '\n6\n') }],
    ['other_leaf', { ...promised, leaf: leaf1 }],
    ['other_due', { ...promised, promise: { ...promise, due: '2030-01-09T12:02:00.000Z' } }],
    ['other_log', { ...promised, promise: { ...promise, log: 'localhost/transparency' } }],
    ['invalid_promise', { ...promised, promise: { ...promise, signature: possession } }],
  ]
  const results = await inPython(cases.map(([, each]) => each))
  assert.deepEqual(
    results,
    cases.map(([code]) => code),
  )
})

/** Values that the design computed with another implementation (`protocol/src/signing/test/approvals.test.ts`). */
const approval = {
  statement: JSON.stringify({
    app: { clientId: 'app_7Q2Xv', name: 'Payroll', origins: ['https://payroll.example.org'] },
    challenge: 'Skw_YRuzXC4HEhN8sQuWeh3YrfNiq_zck3P1ug9OHhA',
    challengedAt: '2030-01-01T12:05:00.000Z',
    createdAt: '2030-01-01T12:04:00.000Z',
    expiresAt: '2030-01-01T12:09:00.000Z',
    handle: 'ada',
    identityId: vectors.identityId,
    issuer: 'https://auth.example.com',
    keyVersion: 2,
    organization: null,
    payloadSha256: 'btGl84DGyK7G9ZGgFdPQUnaUKpTlywfS87+y7v+v+PE=',
    publicKey: '8lE+95ugwUEgVEoxBiHBt6sRtTLcvSTZPKbUq2LHKRw=',
    requestId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    role: 'self',
    version: 2,
  }),
  presence: 'cIdfdzS0kXwqX0e1sjB7dKOZzgcZzBvpGxEw03aP5L8=',
  signature: '/GiSoZm8DkcW5R57YA9VNoY/kh/IzT04aC76+oStDZLqUAw4U16YPyIrdnusN1rn1kSsatAtMSdTl/SIaGbWCA==',
}
const evidence = {
  publicKey: 'MCowBQYDK2VwAyEA2HvK+eeT+sXRa1b2ObEzgDjq1J43BBF3MubzbvWy84Q=',
  authenticatorData: 'o3mm9u6vuaVeN4wRgDTidR5oL6ufLTCrE9ISVYbOGUcdAAAAAA==',
  clientDataJson:
    '{"type":"webauthn.get","challenge":"7icvc7r8NuwRuEwicTXv2Jk5azzqgDtMDOguExKEXuU",' +
    '"origin":"https://auth.example.com","crossOrigin":false}',
  signature: 'tZa/5orB4C6kc7ilBLm5ucUdsm9Jq4NFMYfD5CuLNS3TYJx4UWic64lo4y7Tkp/E/7uI+e7KOOtEK8604jNZDA==',
}
const expected = {
  requestId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  clientId: 'app_7Q2Xv',
  identityId: vectors.identityId,
  issuer: 'https://auth.example.com',
  role: 'self',
  payload: 'Pay 1,200.00 EUR to DE02 1203 0000 0000 2020 51',
  publicKey: '8lE+95ugwUEgVEoxBiHBt6sRtTLcvSTZPKbUq2LHKRw=',
  keyVersion: 2,
  expiresAt: '2030-01-01T12:09:00.000Z',
}

test('TRU-25 an implementation in Python accepts the approval of the vectors, and refuses changed ones', async () => {
  const { presence: _, ...withoutPresence } = approval
  const zeros = Buffer.alloc(32).toString('base64')
  const renamed = approval.statement.replace('Payroll', 'Payrolls')
  const cases: [string, object][] = [
    ['ok', { approval, expected }],
    ['ok', { kind: 'evidence', statement: approval.statement, presence: approval.presence, evidence }],
    ['other_challenge', { kind: 'evidence', statement: renamed, presence: approval.presence, evidence }],
    ['other_presence', { kind: 'evidence', statement: approval.statement, presence: zeros, evidence }],
    ['invalid_approval', { approval: withoutPresence, expected }],
    ['invalid_approval', { approval: { ...approval, presence: zeros }, expected }],
    ['invalid_approval', { approval: { ...approval, statement: renamed }, expected }],
    ['malformed_approval', { approval: { ...approval, statement: ` ${approval.statement}` }, expected }],
    ['other_request', { approval, expected: { ...expected, requestId: randomUUID() } }],
    ['other_app', { approval, expected: { ...expected, clientId: 'app_other' } }],
    ['other_handle', { approval, expected: { ...expected, handle: 'eve' } }],
    ['other_issuer', { approval, expected: { ...expected, issuer: 'https://id.example' } }],
    ['other_text', { approval, expected: { ...expected, payload: 'Pay 9,200.00 EUR' } }],
    ['other_key', { approval, expected: { ...expected, keyVersion: 1 } }],
    ['other_expiry', { approval, expected: { ...expected, expiresAt: '2030-01-01T13:09:00.000Z' } }],
  ]
  const results = await inPython(cases.map(([, each]) => ({ kind: 'approval', ...each })))
  assert.deepEqual(
    results,
    cases.map(([code]) => code),
  )
})

test('TRU-33 an implementation in Python accepts the trails of the vectors, and refuses changed ones', async () => {
  const { ada, bob, organizationId, issuer, publicKeys } = vector
  const keys = { [`${ada} 2`]: publicKeys.ada, [`${bob} 1`]: publicKeys.bob }
  const common = { kind: 'trail', organizationId, issuer, keys }
  const done = { entry: vector.entry, details: vector.details, salt: vector.salt, acts: [vector.act] }
  const { proposal } = vector
  const approved = { ...done, entry: vector.proposedEntry, acts: vector.proposedActs, proposal }
  const records = [done, approved]
  const { details: _details, salt: _salt, ...erased } = done
  const [act] = approved.acts
  assert.ok(act)
  const { append, signAct, proposed } = acting
  const own = acting.propose()
  const [approvedAt, expiresAt] = [acting.at(2), acting.at(7 * 24 * 60)]
  const byAda = signAct({ role: 'approve', proposal: own.digest, at: approvedAt, expiresAt })
  const trail = { ...common, records, head: vector.proposedHead }
  const cases: [string, object][] = [
    ['ok', trail],
    ['ok', { ...trail, records: [erased, approved] }],
    ['ok', { ...common, records: proposed({}) }],
    ['trail_cut', { ...trail, records: [done] }],
    ['malformed_entry', { ...trail, records: [{ ...done, entry: ` ${done.entry}` }] }],
    ['other_organization', { ...trail, organizationId: randomUUID() }],
    ['sequence_gap', { ...trail, records: [approved] }],
    ['broken_trail', { ...trail, records: [append([], { acts: [signAct({})] }).at(0), approved] }],
    ['other_details', { ...trail, records: [{ ...done, details: { ...vector.details, memberId: ada } }] }],
    ['other_details', { ...trail, records: [{ ...done, salt: 'AAAAAAAAAAAAAAAAAAAAAA==' }] }],
    ['other_acts', { ...trail, records: [{ ...done, acts: [] }] }],
    ['malformed_act', { ...common, records: append([], { acts: [signAct({ role: 'approve' })] }) }],
    ['malformed_act', { ...common, records: append([], { acts: [signAct({ expiresAt: acting.at(9) })] }) }],
    ['other_act', { ...common, records: append([], { acts: [signAct({ action: 'organization.deleted' })] }) }],
    ['other_issuer', { ...trail, issuer: 'https://id.example' }],
    ['executed_other', { ...common, records: append([], { acts: [signAct({})], details: { memberId: ada } }) }],
    ['out_of_time', { ...common, records: append([], { acts: [signAct({})] }, { at: acting.at(9) }) }],
    ['unknown_key', { ...trail, keys: {} }],
    ['invalid_act', { ...trail, keys: { ...keys, [`${ada} 2`]: publicKeys.bob } }],
    ['act_replayed', { ...common, records: append(append([], { acts: [vector.act] }), { acts: [vector.act] }) }],
    ['act_out_of_order', { ...common, records: append([done], { acts: [signAct({})] }) }],
    [
      'other_trail',
      { ...common, records: append([], { acts: [signAct({ trail: { head: act.presence, sequence: 1 } })] }) },
    ],
    ['other_proposal', { ...trail, records: [done, { ...approved, proposal: undefined }] }],
    ['other_proposal', { ...common, records: proposed({ approval: { proposal: act.presence } }) }],
    [
      'approved_twice',
      { ...common, records: append([], { acts: [signAct({ proposal: own.digest }), byAda], proposal: own.proposal }) },
    ],
  ]
  const results = await inPython(cases.map(([, each]) => each))
  assert.deepEqual(
    results,
    cases.map(([code]) => code),
  )
})

test("TRU-26 Go's library and Python accept checkpoints and proofs of any size, and refuse changed ones", async () => {
  const log = createLog()
  const identityId = randomUUID()
  for (let size = 0; size < 20; size += 1) {
    const isOwn = size === 6
    addLeaf(log, isOwn ? identityId : randomUUID(), newKeyPair(), { event: 'created' })
  }
  const { verifierKey: key } = log.trusted
  const growth = (from: number, to: number) => {
    const heads = { from: checkpointOf(log, from), to: checkpointOf(log, to) }
    return { kind: 'growth', verifierKey: key, ...heads, hashes: consistencyOf(log, from, to) }
  }
  const sizes = Array.from({ length: 20 }, (_, nth) => nth + 1)
  const good = [caseOf(log, identityId), ...sizes.flatMap((to) => sizes.slice(0, to).map((from) => growth(from, to)))]
  const other = createLog(log.origin, log.key)
  for (let size = 0; size < 20; size += 1) addLeaf(other, randomUUID(), newKeyPair(), { event: 'created' })
  const forked = { ...growth(8, 20), to: checkpointOf(other), hashes: consistencyOf(other, 8, 20) }
  const history = caseOf(log, identityId)
  const bad = [
    forked,
    { ...growth(8, 20), hashes: consistencyOf(log, 9, 20) },
    { ...growth(8, 20), hashes: [] },
    { ...growth(8, 20), from: checkpointOf(other, 8) },
    { ...history, verifierKey: createLog(log.origin).trusted.verifierKey },
    { ...history, events: eventsOf(log, identityId, 12) },
    { ...history, events: history.events.map((event) => ({ ...event, index: 7 })) },
  ]
  for (const check of [inGo, inPython]) {
    assert.deepEqual(new Set(await check(good)), new Set(['ok']))
    assert.ok((await check(bad)).every((result) => result !== 'ok'))
  }
})

test('TRU-25 TRU-26 both verify what the running product answers, and refuse it when it is changed', async (t) => {
  const service = await serveHere()
  t.after(() => service.close())
  const read = <Body>(path: string) => ask<Body>(service, `/api/transparency/${path}`, { method: 'GET' })
  const { verifierKey: key, origin } = await read<ResponseOf<'GET /api/transparency/jwks'>>('jwks')
  const ada = await createRemoteSigner(service)
  await createRemoteSigner(service)
  const historyOfAda = () =>
    read<ResponseOf<'GET /api/transparency/identities/:identityId'>>(`identities/${ada.identityId}`)
  const before = await historyOfAda()
  const { logEntry } = await ada.rotate()
  const { checkpoint, events } = await historyOfAda()
  const [from = '', to = ''] = [before.checkpoint, checkpoint].map((text) => text.split('\n')[1])
  const { hashes } = await read<{ hashes: string[] }>(`consistency?from=${from}&to=${to}`)

  const history = { kind: 'history', identityId: ada.identityId, verifierKey: key, checkpoint, events }
  const growth = { kind: 'growth', verifierKey: key, from: before.checkpoint, to: checkpoint, hashes }
  const promised = { kind: 'promise', verifierKey: key, ...logEntry }
  assert.deepEqual(await inPython([history, growth, promised]), ['ok', 'ok', 'ok'])
  assert.deepEqual(await inGo([history, growth]), ['ok', 'ok'])
  const [first, second] = events
  assert.ok(first && second)
  const otherLeaf = { ...second, leaf: second.leaf.replace('"keyVersion":2', '"keyVersion":3') }
  const changed = [
    { ...history, events: [first, otherLeaf] },
    { ...growth, hashes: hashes.toReversed().slice(1) },
    { ...growth, from: checkpoint, to: before.checkpoint },
  ]
  for (const check of [inGo, inPython]) assert.ok((await check(changed)).every((result) => result !== 'ok'))
  assert.deepEqual(await inPython([{ ...promised, leaf: first.leaf }]), ['other_leaf'])

  const app = await registerRemoteApp(service)
  const trust = { log: { version: 1, origin, verifierKey: key }, store: createMemoryTrustStore() }
  const payload = 'Pay €240.00 to Paper Shop'
  const countersign = createCountersign({ ...app, trust })
  const request = await countersign.createSigningRequest({ identityId: ada.identityId, payload })
  await ada.sign(request.requestId, payload)
  const outcome = await countersign.waitForSignature(request)
  assert.ok(outcome.status === 'signed')
  const own = { ...request, clientId: app.clientId, issuer: app.authUrl, role: 'self' }
  const given = { kind: 'approval', approval: outcome.approval, expected: own }
  const otherText = { ...given, expected: { ...own, payload: 'Pay €940.00 to Paper Shop' } }
  assert.deepEqual(await inPython([given, otherText]), ['ok', 'other_text'])
})
