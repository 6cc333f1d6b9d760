import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { compactDecrypt } from 'jose'
import { createAuthenticator } from '#testing/authenticator.ts'
import { fingerprintOf } from '#testing/key-holder.ts'
import { serveHere } from '#testing/service-here.ts'
import { freePorts, type Served } from '#testing/service.ts'

const example = fileURLToPath(new URL('../../../../examples/kms/main.js', import.meta.url))

/** Starts the KMS of `examples/` as its README describes; `heard` returns its next log line about a request. */
async function startExample(t: TestContext, { authUrl }: Served, organizationId: string) {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-kms-'))
  const [port] = await freePorts(1)
  const environment = { ORGANIZATION_ID: organizationId, PORT: String(port), ISSUER: authUrl }
  const settings = { cwd: directory, env: { PATH: process.env['PATH'], ...environment } }
  const child = spawn(process.execPath, [example], { ...settings, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill()
    await ended
    await rm(directory, { recursive: true })
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const said = await lines.next()
  assert.match(String(said.value), /^The KMS of .* is at http:\/\/localhost:\d+$/)
  const heard = async (): Promise<Record<string, string>> => JSON.parse(String((await lines.next()).value))
  return { url: `http://localhost:${port}`, heard, stop: () => child.kill() && ended }
}

/** Sends a request to the started service as a user. */
function asking(service: Served, headers: Record<string, string> = {}) {
  return async (what: string, payload?: object, host = service.businessUrl) => {
    const [method = '', path = ''] = what.split(' ')
    const body = payload && { body: JSON.stringify(payload) }
    const type = payload && { 'content-type': 'application/json' }
    const answer = await fetch(host + path, { method, headers: { ...headers, ...type }, ...body })
    return { status: answer.status, json: JSON.parse(await answer.text()) }
  }
}

/** Creates a user with an encryption key who owns an organization. */
async function found(service: Served) {
  const strange = asking(service)
  const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
  const start = { handle: 'ada-of-acme', displayName: 'Ada' }
  const { json: started } = await strange('POST /api/auth/register/start', start, service.baseUrl)
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  const { json: registered } = await strange(
    'POST /api/auth/register/finish',
    {
      flowId: started.flowId,
      credential: authenticator.register(started.options),
      encryptionKey: {
        publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
        encryptedPrivateKey: 'a.b.c.d.e',
      },
    },
    service.baseUrl,
  )
  const ask = asking(service, { authorization: `Bearer ${registered.sessionToken}` })
  const [{ identityId }] = registered.identities
  const { json } = await ask('POST /api/organizations', { name: 'Acme', identityId })
  return { ask, privateKey, path: `/api/organizations/${json.organization.id}`, id: json.organization.id }
}

test('the example KMS keeps the keys of its organization, and answers requests of the service only', async (t) => {
  const service = await serveHere()
  t.after(() => service.close())
  const { ask, privateKey, path, id } = await found(service)
  const kms = await startExample(t, service, id)

  const set = await ask(`PUT ${path}/kms`, { url: kms.url })
  assert.equal(set.status, 200, JSON.stringify(set.json))
  assert.deepEqual([(await kms.heard())['operation'], (await kms.heard())['operation']], ['wrap', 'unwrap'])
  assert.equal((await ask(`PATCH ${path}`, { encryptionMode: 'enterprise_managed' })).status, 200)
  const { key } = (await ask(`POST ${path}/keys`, {})).json
  const wrapped = await kms.heard()
  assert.deepEqual([wrapped['operation'], wrapped['keyId']], ['wrap', key.keyId])

  const read = await ask(`GET ${path}/keys/${key.keyId}/wraps`)
  const { plaintext } = await compactDecrypt(read.json.wraps[0].ciphertext, privateKey)
  assert.equal(fingerprintOf(plaintext), key.fingerprint)
  assert.deepEqual([(await kms.heard())['operation']], ['unwrap'])

  const question = { ciphertext: 'AAAA', context: { organizationId: id, keyId: key.keyId } }
  for (const headers of [{}, { authorization: 'Bearer a.b.c' }]) {
    const requested = await asking(service, headers)('POST /unwrap', question, kms.url)
    assert.equal(requested.status, 401)
    assert.ok((await kms.heard())['refused'])
  }
  const malformed = await asking(service)('GET //', undefined, kms.url)
  assert.deepEqual([malformed.status, malformed.json.error], [400, 'invalid_request'])
  const { json: other } = await ask('POST /api/organizations', {
    name: 'Other',
    identityId: (await ask('GET /api/organizations')).json.organizations[0].identityId,
  })
  const theirs = await ask(`PUT /api/organizations/${other.organization.id}/kms`, { url: kms.url })
  assert.deepEqual([theirs.status, theirs.json.error], [400, 'invalid_kms'])

  await kms.stop()
  const shut = await ask(`GET ${path}/keys/${key.keyId}/wraps`)
  assert.deepEqual([shut.status, shut.json.error], [503, 'kms_unavailable'])
})
