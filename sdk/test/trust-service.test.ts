import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { ResponseOf } from '@countersign/protocol/api'
import { createLog } from '../../server/testing/lying-log.ts'
import { foundRemoteOrganization } from '../../server/testing/remote-organization.ts'
import { ask, createRemoteSigner, registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { serveHere } from '../../server/testing/service-here.ts'
import type { Served } from '../../server/testing/service.ts'
import {
  createCountersign,
  createFileTrustStore,
  createMemoryTrustStore,
  verifyOrganizationReceipt,
  verifyReceipt,
  type TrustSettings,
} from '../src/server/server.ts'

const server = JSON.stringify(join(import.meta.dirname, '../src/server/server.ts'))
const payload = 'Überweise 10 €\r\nan Bob 👩‍🚀'
const run = promisify(execFile)

let service: Served
let settings: Awaited<ReturnType<typeof registerRemoteApp>>
let log: Exclude<TrustSettings['log'], string>
before(async () => {
  service = await serveHere()
  settings = await registerRemoteApp(service)
  const { origin, verifierKey } = await readKeys()
  log = { version: 1, origin, verifierKey }
})
after(() => service.close())

function readKeys() {
  return ask<ResponseOf<'GET /api/transparency/jwks'>>(service, '/api/transparency/jwks', { method: 'GET' })
}

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-trust-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

const begin = (trust: Partial<TrustSettings> = {}) =>
  createCountersign({ ...settings, trust: { log, store: createMemoryTrustStore(), ...trust } })

test('TRU-23 TRU-12 an app accepts what a user approves, also after a restart and with a new key', async (t) => {
  const ada = await createRemoteSigner(service)
  const folder = await makeFolder(t)
  for (const keyVersion of [1, 2, 3]) {
    const app = begin({ store: createFileTrustStore(folder) })
    const request = await app.createSigningRequest({ identityId: ada.identityId, payload: `${payload} ${keyVersion}` })
    assert.equal(request.keyVersion, keyVersion)
    await ada.sign(request.requestId, request.payload)
    const outcome = await app.waitForSignature(request)
    assert.ok(outcome.status === 'signed' && outcome.approval?.presence)
    await ada.rotate()
  }
})

test('TRU-12 after a restart, the app still knows what it has seen of the log', async (t) => {
  const ada = await createRemoteSigner(service)
  const folder = await makeFolder(t)
  const other = await serveHere()
  t.after(() => other.close())
  const program = (baseUrl: string) => `
    import { createCountersign, createFileTrustStore } from ${server}
    const trust = { log: 'first-use', store: createFileTrustStore(${JSON.stringify(folder)}) }
    const app = createCountersign({ ...${JSON.stringify({ ...settings, baseUrl })}, trust })
    const ask = () => app.createSigningRequest({ identityId: '${ada.identityId}', payload: 'Pay' })
    console.log(await ask().then(({ keyVersion }) => keyVersion, ({ code }) => code))
  `
  const start = async (baseUrl: string) =>
    (await run(process.execPath, ['--input-type=module', '--eval', program(baseUrl)])).stdout.trim()
  assert.equal(await start(service.baseUrl), '1')
  assert.equal(await start(other.baseUrl), 'unknown_log')
  assert.equal(await start(service.baseUrl), '1')
})

test('TRU-23 a signature without an approval is accepted only where the app says so', async () => {
  const ada = await createRemoteSigner(service)
  const app = begin()
  const request = await app.createSigningRequest({ identityId: ada.identityId, payload })
  await ada.signAlone(request.requestId, payload)
  await assert.rejects(app.waitForSignature(request), { code: 'no_approval' })
  assert.equal((await begin({ approvals: 'any' }).waitForSignature(request)).status, 'signed')
})

test('TRU-23 an organization signs with proved keys and approvals of all members', async () => {
  const {
    id: organizationId,
    owner,
    others,
  } = await foundRemoteOrganization(service, { approvalsNeeded: 1, others: 1 })
  const [bob] = others
  assert.ok(bob)
  const app = begin()
  const request = await app.createOrganizationRequest({ organizationId, payload })
  await owner.sign(request.requestId, payload, 'sign')
  await bob.approve(request.requestId, payload)
  const outcome = await app.waitForOrganizationSignature(request)
  assert.ok(outcome.status === 'signed' && outcome.signatures.every(({ approval }) => approval))

  const kept = await app.getOrganizationReceipt({ ...request, payload })
  assert.equal(verifyOrganizationReceipt(kept, { log }).organization.id, organizationId)
  await bob.rotate()
  assert.equal((await app.waitForOrganizationSignature(request)).status, 'signed', 'by the key of then')
})

test('TRU-21 receipts are verified with the trusted key of the log, whatever the service publishes', async () => {
  const ada = await createRemoteSigner(service)
  const app = begin()
  const request = await app.createSigningRequest({ identityId: ada.identityId, payload })
  await ada.sign(request.requestId, payload)
  const kept = await app.getReceipt(request)
  assert.equal(verifyReceipt(kept, { log }).identityId, ada.identityId)
  const { keys } = await readKeys()
  assert.deepEqual(await app.getLogKeys(), { keys, origin: log.origin })

  const { trusted } = createLog(log.origin)
  assert.throws(() => verifyReceipt(kept, { log: trusted }), { code: 'unknown_service_key' })
  await assert.rejects(begin({ log: trusted }).getReceipt(request), { code: 'unknown_service_key' })
  const firstUse = begin({ log: 'first-use', store: { ...createMemoryTrustStore(), isDurable: true } })
  assert.equal(verifyReceipt(await firstUse.getReceipt(request), { log }).requestId, request.requestId)
})

test('TRU-42 a receipt is refused if its log does not continue what the app has seen', async () => {
  const ada = await createRemoteSigner(service)
  const { id: organizationId, owner } = await foundRemoteOrganization(service, { approvalsNeeded: 0, others: 0 })
  const own = await begin().createSigningRequest({ identityId: ada.identityId, payload })
  await ada.sign(own.requestId, payload)
  const shared = await begin().createOrganizationRequest({ organizationId, payload })
  await owner.sign(shared.requestId, payload, 'sign')
  const readers = {
    own: (app: ReturnType<typeof begin>) => app.getReceipt(own),
    shared: (app: ReturnType<typeof begin>) => app.getOrganizationReceipt({ ...shared, payload }),
  }
  for (const [name, read] of Object.entries(readers)) {
    const store = createMemoryTrustStore()
    await read(begin({ store }))
    const seen = await store.read('log')
    const { size, ...head } = JSON.parse(seen ?? assert.fail('the head was not stored'))
    await read(begin({ store }))
    assert.equal(await store.read('log'), seen)

    const refuses = async (code: string, other: object) => {
      const remembering = createMemoryTrustStore()
      const stored = JSON.stringify({ ...head, size, ...other })
      await remembering.advance('log', undefined, stored)
      await assert.rejects(read(begin({ store: remembering })), { name: 'CountersignError', code }, name)
      assert.equal(await remembering.read('log'), stored)
    }
    const root = Buffer.alloc(32, 1).toString('base64')
    await refuses('log_forked', { root })
    await refuses('log_forked', { size: size - 1, root })
    await refuses('log_rolled_back', { size: size + 1 })
    await refuses('unknown_log', { verifierKey: createLog(log.origin).trusted.verifierKey })
  }
})

test('TRU-22 without trust a process warns once, and with trust never', async () => {
  const people = [await createRemoteSigner(service), await createRemoteSigner(service)]
  const identityIds = people.map(({ identityId }) => identityId)
  const program = (trust: string) => `
    import { createCountersign, createMemoryTrustStore } from ${server}
    process.on('warning', ({ code }) => console.log(code))
    for (const identityId of ${JSON.stringify(identityIds)}) {
      const app = createCountersign({ ...${JSON.stringify(settings)}${trust} })
      await app.createSigningRequest({ identityId, payload: 'Pay' })
    }
  `
  const warnings = async (trust: string) =>
    (await run(process.execPath, ['--no-warnings', '--input-type=module', '--eval', program(trust)])).stdout
  assert.equal(await warnings(''), 'COUNTERSIGN_NO_TRUST\n')
  assert.equal(await warnings(`, trust: { log: ${JSON.stringify(log)}, store: createMemoryTrustStore() }`), '')
})
