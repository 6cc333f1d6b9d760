import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { FormerCiphertext } from '@countersign/protocol/accounts/keys'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { deleteBuiltInApp, ensureApp } from '#clients/registration/built-in-app.ts'
import { createConnectors } from '#testing/connectors.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'
import { endConsentsOfDeletedApps } from '#oauth/consents/deleted-apps.ts'

let world: TestWorld
before(async () => {
  world = await createWorld({ environment: { DEVELOPER_PORTAL: 'on' } })
})
after(() => world.close())

const daySeconds = 24 * 3600
const clean = (batch = 100_000) => endConsentsOfDeletedApps(world.db, world.now(), batch)

async function deleteApp({ clientId }: Pick<TestApp, 'clientId'>): Promise<void> {
  const url = `/api/admin/apps/${clientId}`
  const gone = await world.api.inject({ method: 'DELETE', url, headers: world.admin })
  assert.equal(gone.statusCode, 204, gone.body)
}

/** Consents like the consent page, with the given app key fields. */
async function consent({ headers, identityId }: Person, { clientId, redirectUri }: TestApp, fields: object) {
  const payload = { clientId, redirectUri, identityId, ...fields }
  const given = await world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload })
  assert.equal(given.statusCode, 200, given.body)
}

/** Counts the rows of an app in the tables that keep some after its deletion. */
async function leftOf(clientId: ClientId) {
  const { rows } = await sql<Record<string, number>>`
    select (select count(*)::integer from authorization_consent where client_id = ${clientId}) as consents,
      (select count(*)::integer from authorization_app_key where client_id = ${clientId}) as keys,
      (select count(*)::integer from authorization_app_public_key where client_id = ${clientId}) as "publicKeys",
      (select count(*)::integer from token_family
        where client_id = ${clientId} and revoked_at is null) as families,
      (select count(*)::integer from app_ending where client_id = ${clientId}) as endings`.execute(world.db)
  return rows[0]
}
const nothing = { consents: 0, keys: 0, publicKeys: 0, families: 0, endings: 0 }

test('GRW-62 users are disconnected from an app that was deleted 30 days ago, and get its keys', async () => {
  const [person, app, other] = [await world.person(), await world.app({ supportsE2ee: true }), await world.app()]
  const { publicKey } = generateKeyPairSync('x25519')
  const appPublicKey = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  await consent(person, app, { scope: 'openid', encryptedAppKey: 'one' })
  await consent(person, app, { scope: 'openid e2ee:asymmetric', appPublicKey, encryptedAppPrivateKey: 'two' })
  await other.tokens(person)
  await deleteApp(app)
  const before = { consents: 1, keys: 2, publicKeys: 1, families: 2, endings: 1 }
  assert.deepEqual(await leftOf(app.clientId), before)
  world.pass(29 * daySeconds)
  assert.equal(await clean(), 0)
  assert.deepEqual(await leftOf(app.clientId), before)

  world.pass(daySeconds)
  assert.ok((await clean()) > 0)
  assert.deepEqual(await leftOf(app.clientId), nothing)
  assert.equal((await leftOf(other.clientId))?.['consents'], 1)
  assert.equal(await clean(), 0, 'nothing is left')
  const headers = await person.signIn()
  const exported = await world.api.inject({ url: '/api/account/export', headers })
  const { formerCiphertexts } = exported.json<{ formerCiphertexts: FormerCiphertext[] }>()
  const kept = formerCiphertexts.map(({ kind, reference, ciphertext }) => ({ kind, reference, ciphertext }))
  assert.deepEqual(
    kept.toSorted((one, two) => one.ciphertext.localeCompare(two.ciphertext)),
    ['one', 'two'].map((ciphertext) => ({ kind: 'app_key', reference: app.clientId, ciphertext })),
  )
})

test('GRW-62 a transaction disconnects at most twenty users of a deleted app', async () => {
  const app = await world.app()
  for (let nth = 0; nth < 25; nth += 1) await app.code(await world.person())
  await deleteApp(app)
  world.pass(30 * daySeconds)
  await clean(1)
  assert.equal((await leftOf(app.clientId))?.['consents'], 5)
  await clean()
  assert.deepEqual(await leftOf(app.clientId), nothing)
})

test('GRW-62 delegations from and to a deleted app are revoked', async () => {
  const parties = [await createConnectors(world), await createConnectors(world), await createConnectors(world)]
  const people = [await parties[0]?.connected(), await parties[1]?.connected(), await parties[2]?.connected()]
  for (const gone of [parties[0]?.source, parties[1]?.target]) if (gone) await deleteApp(gone)
  world.pass(30 * daySeconds)
  await clean()
  const identityIds = people.flatMap((each) => each?.person.identityId ?? [])
  const rows = world.db.selectFrom('delegation_grant').select(['identity_id', 'revoked_at'])
  const delegations = await rows.where('identity_id', 'in', identityIds).execute()
  const isActive = identityIds.map((id) => delegations.find((each) => each.identity_id === id)?.revoked_at === null)
  assert.deepEqual(isActive, [false, false, true])
})

test('GRW-62 users stay connected to a deleted app that exists again under its client ID', async () => {
  const clientId = asId<ClientId>(`app_${randomUUID().replaceAll('-', '')}`)
  const redirectUri = 'https://again.example/callback'
  const create = () => ensureApp(world.db, clientId, { name: 'Again', redirectUris: [redirectUri] }, world.now())
  await create()
  const person = await world.person()
  const app = { ...(await world.app()), clientId, redirectUri }
  await consent(person, app, { scope: 'openid', codeChallenge: 'x'.repeat(43), codeChallengeMethod: 'S256' })
  await deleteBuiltInApp(world.db, clientId, world.now())
  world.pass(20 * daySeconds)
  await create()
  assert.equal((await leftOf(clientId))?.['endings'], 0)
  world.pass(20 * daySeconds)
  await clean()
  assert.deepEqual(await leftOf(clientId), { ...nothing, consents: 1, families: 1 })

  await deleteBuiltInApp(world.db, clientId, world.now())
  world.pass(29 * daySeconds)
  await clean()
  assert.equal((await leftOf(clientId))?.['consents'], 1, 'it counts from the last deletion')
  world.pass(daySeconds)
  await clean()
  assert.deepEqual(await leftOf(clientId), nothing)
})

test('GRW-62 apps that are deleted with the account of their developer disconnect their users too', async () => {
  const [developer, person] = [await world.person(), await world.person()]
  const made = await world.api.inject({
    method: 'POST',
    url: '/api/developer/apps',
    headers: developer.headers,
    payload: { name: 'Theirs', redirectUris: ['https://theirs.example/callback'] },
  })
  const { clientId } = made.json<{ clientId: ClientId }>()
  const app = { ...(await world.app()), clientId, redirectUri: 'https://theirs.example/callback' }
  await consent(person, app, { scope: 'openid' })
  const url = '/api/account?apps=delete'
  const gone = await world.api.inject({ method: 'DELETE', url, headers: developer.headers })
  assert.ok(gone.statusCode < 300, gone.body)
  assert.equal((await leftOf(clientId))?.['endings'], 1)
  world.pass(30 * daySeconds)
  await clean()
  assert.deepEqual(await leftOf(clientId), nothing)
})
