import assert from 'node:assert/strict'
import { createPublicKey, randomUUID, X509Certificate } from 'node:crypto'
import { tmpdir } from 'node:os'
import { after, before, test } from 'node:test'
import { backupMediaType } from '@countersign/protocol/operations/backup'
import { limits } from '@countersign/protocol/formats/limits'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { errorOf, openEnterprise, refusalIn, type Enterprise } from '#testing/enterprise.ts'
import { startSamlProvider, type SamlUser } from '#testing/saml-provider.ts'
import { createWorld, type Person } from '#testing/world.ts'
import { loadDecryptionKeys, pruneEncryptionKeys, reencryptEncryptionKeys } from '#sso/connections/encryption-key.ts'

type Organization = { owner: Person; organizationId: string }
type Browser = ReturnType<Enterprise['browser']>

const xenc = 'http://www.w3.org/2001/04/xmlenc#'
const gcm = {
  dataEncryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
  keyEncryptionAlgorithm: `${xenc}rsa-oaep-mgf1p`,
}
const secretKey = 'a-secret-key-for-tests-of-32-characters'
const environment = { DATA_DIR: tmpdir() }

let enterprise: Enterprise
let world: Enterprise['world']
let idp: Awaited<ReturnType<typeof startSamlProvider>>
before(async () => {
  enterprise = await openEnterprise({ secretKey, environment })
  ;({ world } = enterprise)
  idp = await startSamlProvider(world.now)
})
after(async () => {
  await idp.close()
  await enterprise.close()
})

/** Creates an organization with a SAML connection without encryption key. */
async function connected() {
  const organization = await enterprise.organization(await world.person())
  const payload = { name: 'Acme SAML', saml: { metadataUrl: idp.metadataUrl } }
  const path = `/${organization.organizationId}/sso-connections`
  const made = await ask(organization, 'POST', path, payload)
  assert.equal(made.statusCode, 201, made.body)
  const { connection } = made.json<{ connection: SsoConnection }>()
  return { organization, connection, path: `${path}/${connection.connectionId}` }
}
type Connected = Awaited<ReturnType<typeof connected>>

async function ask({ owner }: Organization, method: 'GET' | 'POST' | 'DELETE', path: string, payload?: object) {
  return enterprise.send({ headers: await owner.signIn() }, method, path, payload)
}

/** Creates and publishes a key; returns its certificate (PEM). */
async function publish({ organization, path }: Connected): Promise<string> {
  const made = await ask(organization, 'POST', `${path}/encryption-key`)
  assert.equal(made.statusCode, 201, made.body)
  return made.json<{ connection: SsoConnection }>().connection.saml?.encryption?.certificate ?? ''
}

const metadataOf = async ({ connection }: Connected) =>
  (await world.api.inject({ url: `/api/sso/${connection.connectionId}/metadata` })).body
const publishes = (metadata: string, certificate: string) =>
  metadata.includes(new X509Certificate(certificate).raw.toString('base64'))
const newUser = (more: Partial<SamlUser> = {}): SamlUser => ({ nameId: randomUUID(), attributes: {}, ...more })

/** Completes a sign-in of a new user whose provider has read this service provider metadata. */
async function signIn({ connection }: Connected, metadata: string, user: SamlUser, browser: Browser) {
  await idp.register(metadata)
  const { location = '' } = (await browser.start(connection.connectionId)).headers
  const { action, fields } = await idp.approve(location, user)
  return { fields, answer: await browser.follow(action, fields) }
}

async function subjectIn(browser: Browser, { location = '' }: { location?: string | undefined }) {
  const flowId = new URL(location).searchParams.get('flow') ?? ''
  return (await browser.page('GET', `/api/sso/arrivals/${flowId}`)).json().subject
}

async function lastFailure({ organization }: Connected) {
  const rows = await world.db
    .selectFrom('audit_event')
    .select('details')
    .where('organization_id', '=', organization.organizationId)
    .where('action', '=', 'sso.login.failed')
    .orderBy('event_id', 'desc')
    .execute()
  return (rows[0]?.details as { because?: string } | undefined)?.because
}

test('SML-20 a user signs in with a provider that encrypts to the key in our metadata', async () => {
  const acme = await connected()
  await publish(acme)
  for (const dataEncryptionAlgorithm of [
    gcm.dataEncryptionAlgorithm,
    gcm.dataEncryptionAlgorithm.replace('256', '128'),
  ]) {
    const user = newUser({ encryption: { ...gcm, dataEncryptionAlgorithm } })
    const browser = enterprise.browser()
    const { fields, answer } = await signIn(acme, await metadataOf(acme), user, browser)
    const sent = Buffer.from(fields['SAMLResponse'] ?? '', 'base64').toString('utf8')
    assert.ok(sent.includes('EncryptedAssertion') && !sent.includes(user.nameId), sent)
    assert.equal(await subjectIn(browser, answer.headers), user.nameId)
  }
})

test('a provider that does not encrypt still works after a key is published', async () => {
  const acme = await connected()
  await publish(acme)
  const user = newUser()
  const browser = enterprise.browser()
  const { answer } = await signIn(acme, await metadataOf(acme), user, browser)
  assert.equal(await subjectIn(browser, answer.headers), user.nameId)
})

test('no key is published before an admin creates one, and its certificate is valid for ten years', async () => {
  const acme = await connected()
  assert.equal(acme.connection.saml?.encryption, undefined)
  assert.doesNotMatch(await metadataOf(acme), /KeyDescriptor/)
  const pem = await publish(acme)
  const certificate = new X509Certificate(pem)
  assert.ok(publishes(await metadataOf(acme), pem))
  assert.ok(certificate.verify(certificate.publicKey))
  assert.match(certificate.subject, new RegExp(acme.connection.connectionId))
  assert.equal(createPublicKey(pem).asymmetricKeyDetails?.modulusLength, 3072)
  assert.ok(certificate.validFromDate < world.now())
  const read = (await ask(acme.organization, 'GET', acme.path)).json<{ connection: SsoConnection }>().connection
  assert.equal(read.saml?.encryption?.expiresAt, certificate.validToDate.toISOString())
  const years = (certificate.validToDate.getTime() - world.now().getTime()) / (365 * 24 * 3600 * 1000)
  assert.equal(Math.round(years), 10)
  const stored = await world.db.selectFrom('sso_encryption_key').selectAll().execute()
  assert.doesNotMatch(JSON.stringify(stored), /PRIVATE/)
})

test('a replaced key decrypts until its provider must have noticed, and no longer', async () => {
  const acme = await connected()
  const first = await publish(acme)
  const metadata = await metadataOf(acme)
  const second = await publish(acme)
  assert.ok(!publishes(await metadataOf(acme), first) && publishes(await metadataOf(acme), second))
  const trial = async () => (await signIn(acme, metadata, newUser({ encryption: gcm }), enterprise.browser())).answer
  world.pass(limits.samlFormerKeySeconds - 60)
  assert.equal((await trial()).statusCode, 303)
  await pruneEncryptionKeys(world.db, world.now(), 500)
  assert.equal((await trial()).statusCode, 303)
  world.pass(120)
  assert.deepEqual(refusalIn(await trial()), [401, 'sso_response_invalid'])
  assert.equal(await lastFailure(acme), 'decryption')
  assert.equal(await pruneEncryptionKeys(world.db, world.now(), 500), 1)
  const left = await loadDecryptionKeys(world.kernel, acme.connection.connectionId, world.now())
  assert.equal(left.length, 1)
})

test('a removed key is no longer published, and decrypts responses that are in progress', async () => {
  const acme = await connected()
  await publish(acme)
  const metadata = await metadataOf(acme)
  const removed = await ask(acme.organization, 'DELETE', `${acme.path}/encryption-key`)
  assert.equal(removed.statusCode, 204, removed.body)
  assert.doesNotMatch(await metadataOf(acme), /KeyDescriptor/)
  const { answer } = await signIn(acme, metadata, newUser({ encryption: gcm }), enterprise.browser())
  assert.equal(answer.statusCode, 303)
  const again = await ask(acme.organization, 'DELETE', `${acme.path}/encryption-key`)
  assert.deepEqual(errorOf(again), [404, 'encryption_key_not_found'])
})

test('SML-07 a response that cannot be decrypted and one that is not trusted get the same error', async () => {
  const acme = await connected()
  const other = await connected()
  await publish(acme)
  await publish(other)
  const [ours, theirs] = [await metadataOf(acme), await metadataOf(other)]
  /** Our entity ID and URL with another service's key. */
  const [, foreign = ''] = /<ds:X509Certificate>([^<]*)</.exec(theirs) ?? []
  const misled = ours.replace(/(<ds:X509Certificate>)[^<]*/, `$1${foreign}`)
  const toBody = async (metadata: string, user: SamlUser) => {
    const { statusCode, body } = (await signIn(acme, metadata, user, enterprise.browser())).answer
    return [statusCode, body.replaceAll(/"requestId":"[^"]*"|nonce-[\w+/=-]+|nonce="[^"]*"/g, '')]
  }
  const closed = await toBody(misled, newUser({ encryption: gcm }))
  assert.equal(await lastFailure(acme), 'decryption')
  const unsigned = await toBody(ours, newUser({ encryption: gcm, otherwise: { Audience: 'https://other.example' } }))
  assert.equal(await lastFailure(acme), 'audience')
  assert.deepEqual(closed, unsigned)
  assert.doesNotMatch(String(closed[1]), /decryption|audience/)
})

test('SML-07 a response encrypted with an insecure algorithm is rejected', async () => {
  const acme = await connected()
  await publish(acme)
  const published = await metadataOf(acme)
  const weak = [
    { ...gcm, dataEncryptionAlgorithm: `${xenc}aes256-cbc` },
    { ...gcm, keyEncryptionAlgorithm: `${xenc}rsa-1_5` },
  ]
  for (const encryption of weak) {
    const { answer } = await signIn(acme, published, newUser({ encryption }), enterprise.browser())
    assert.deepEqual(refusalIn(answer), [401, 'sso_response_invalid'])
    assert.equal(await lastFailure(acme), 'encryption_algorithm')
  }
})

test('SML-07 a response encrypted for one organization cannot be decrypted for another', async () => {
  const acme = await connected()
  const other = await connected()
  const keys = async ({ connection }: Connected) =>
    loadDecryptionKeys(world.kernel, connection.connectionId, world.now())
  await publish(acme)
  assert.deepEqual([(await keys(acme)).length, (await keys(other)).length], [1, 0])
  await publish(other)
  const [[one], [two]] = [await keys(acme), await keys(other)]
  assert.ok(one && two && !one.equals(two))
})

test('GRW-17 of many keys created concurrently, three are valid and one is published', async () => {
  const acme = await connected()
  const { owner } = acme.organization
  const fresh = { headers: await owner.signIn() }
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => enterprise.send(fresh, 'POST', `${acme.path}/encryption-key`)),
  )
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [201, 201, 201, 409, 409])
  const rows = await world.db
    .selectFrom('sso_encryption_key')
    .select('expires_at')
    .where('connection_id', '=', acme.connection.connectionId)
    .execute()
  assert.deepEqual([rows.length, rows.filter((row) => row.expires_at === null).length], [3, 1])
})

test('creating or removing a key requires recent authentication, and the audit log records it', async () => {
  const acme = await connected()
  const { owner, organizationId } = acme.organization
  const stale = { headers: await owner.signIn() }
  world.pass(301)
  for (const method of ['POST', 'DELETE'] as const)
    assert.deepEqual(errorOf(await enterprise.send(stale, method, `${acme.path}/encryption-key`)), [
      403,
      'reauthentication_required',
    ])
  await publish(acme)
  await ask(acme.organization, 'DELETE', `${acme.path}/encryption-key`)
  const acts = await world.db
    .selectFrom('audit_event')
    .select(['action', 'details'])
    .where('organization_id', '=', organizationId)
    .where('action', 'like', 'sso.encryption%')
    .orderBy('event_id')
    .execute()
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['sso.encryption_key.created', 'sso.encryption_key.removed'],
  )
  assert.doesNotMatch(JSON.stringify(acts), /CERTIFICATE|PRIVATE/)
})

test('an OpenID Connect connection has no encryption key', async () => {
  const { organization } = await connected()
  const { connectionId } = await enterprise.connect(organization)
  const path = `/${organization.organizationId}/sso-connections/${connectionId}/encryption-key`
  assert.deepEqual(errorOf(await ask(organization, 'POST', path)), [400, 'invalid_request'])
})

test('a new SECRET_KEY re-encrypts the encryption keys without changing them', async () => {
  const acme = await connected()
  const certificate = new X509Certificate(await publish(acme))
  const next = new Secret('another-secret-key-of-this-test-32-characters')
  const { connectionId } = acme.connection
  const opens = async (roots: [Secret, ...Secret[]]) => {
    const [key] = await loadDecryptionKeys({ db: world.db, keyring: createKeyring(roots) }, connectionId, world.now())
    assert.ok(key && certificate.checkPrivateKey(key))
  }
  await reencryptEncryptionKeys({ db: world.db, keyring: createKeyring([next, new Secret(secretKey)]) })
  await opens([next])
  await reencryptEncryptionKeys({ db: world.db, keyring: createKeyring([new Secret(secretKey), next]) })
  await opens([new Secret(secretKey)])
})

test('a backup contains the keys, which cannot be used without the SECRET_KEY', async (t) => {
  const acme = await connected()
  const certificate = new X509Certificate(await publish(acme))
  const { rawPayload } = await world.api.inject({ url: '/api/admin/backup', headers: world.admin })
  const restored = await createWorld({ secretKey, environment })
  t.after(() => restored.close())
  const headers = { ...restored.admin, 'content-type': backupMediaType }
  const taken = await restored.api.inject({ method: 'POST', url: '/api/admin/restore', headers, payload: rawPayload })
  assert.equal(taken.statusCode, 200, taken.body)
  const open = (root: string) => {
    const keyring = createKeyring([new Secret(root)])
    return loadDecryptionKeys({ db: restored.db, keyring }, acme.connection.connectionId, world.now())
  }
  const [key] = await open(secretKey)
  assert.ok(key && certificate.checkPrivateKey(key))
  await assert.rejects(open('another-secret-key-of-this-test-32-characters'), /SECRET_KEY/)
})
