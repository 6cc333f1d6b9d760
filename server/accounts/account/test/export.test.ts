import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { Value } from 'typebox/value'
import { AccountExport } from '@countersign/protocol/accounts/account'
import type { App } from '@countersign/protocol/clients/apps'
import type { Webhook } from '@countersign/protocol/clients/webhooks'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { signingRequesterOf, createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let mailbox: Mailbox
let world: TestWorld
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

test('the export is a file with all data of a user and without secrets', async () => {
  const person = await world.person('exporter')
  const stranger = await world.person()
  const identity = `/api/identities/${person.identityId}`
  const post = (url: string, payload: object) =>
    world.api.inject({ method: 'POST', url, headers: person.headers, payload })
  await post(`${identity}/email`, { email: 'ada@example.com' })
  await post(`${identity}/email/verify`, { code: codeIn(await mailbox.take()) })
  await post(`${identity}/email`, { email: 'next@example.com' })
  const code = codeIn(await mailbox.take())
  await world.api.inject({ method: 'PATCH', url: identity, headers: person.headers, payload: { handle: 'exported' } })
  const app = await world.app({ name: 'The Shop' })
  const tokens = await app.tokens(person)
  const own = await post('/api/developer/apps', { name: 'Ledger', redirectUris: ['https://ledger.example/'] })
  const { clientSecret: ownSecret, ...settings } = own.json<App & { clientSecret: string }>()
  const set = await world.api.inject({
    method: 'PUT',
    url: `/api/developer/apps/${settings.clientId}/webhook`,
    headers: person.headers,
    payload: { url: 'https://ledger.example/hook' },
  })
  const { secret: webhookSecret, ...webhook } = set.json<Webhook & { secret: string }>()

  const organization = await createOrganization(world, person)
  const inviter = await world.person()
  const { id: invitingId } = await createOrganization(world, inviter)
  for (const invitee of [{ handle: 'exported' }, { email: 'ada@example.com' }])
    await businessRequest(world, inviter, `POST /organizations/${invitingId}/invitations`, {
      ...invitee,
      role: 'viewer',
    })

  const answer = await world.api.inject({ url: '/api/account/export', headers: person.headers })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['content-disposition'], 'attachment; filename="countersign-account.json"')
  const exported = answer.json<AccountExport>()
  assert.equal(exported.user.userId, person.userId)
  const [first] = exported.identities
  assert.deepEqual(
    [first?.handle, first?.email, first?.unprovedEmail],
    ['exported', 'ada@example.com', 'next@example.com'],
  )
  const keptUntil = new Date(world.now().getTime() + 90 * 24 * 3600_000).toISOString()
  assert.deepEqual(first?.formerHandles, [{ handle: 'exporter', keptUntil }])
  assert.deepEqual(
    first?.grants.map(({ clientId, ended }) => [clientId, ended]),
    [[app.clientId, false]],
  )
  assert.deepEqual([exported.passkeys.length, exported.sessions.length], [1, 1])
  const joinedAt = world.now().toISOString()
  assert.deepEqual(exported.organizations, [{ ...organization, joinedAt, invitedEmail: null }])
  assert.deepEqual(first?.record, {
    lastSeenOn: joinedAt.slice(0, 10),
    emailVerifiedAt: joinedAt,
    recoveryEmailSince: joinedAt,
    managedBy: null,
  })
  assert.deepEqual(exported.invitations.map(({ email, organizationId }) => [email, organizationId]).toSorted(), [
    [null, invitingId],
    ['ada@example.com', invitingId],
  ])
  const [created] = exported.activity
  assert.deepEqual([created?.organizationId, created?.address], [organization.id, '127.0.0.0/24'])
  assert.equal(exported.authorizations[0]?.appName, 'The Shop')
  assert.deepEqual(exported.activity.map(({ action }) => action).toReversed(), [
    'account.created',
    'identity.email_verification.requested',
    'identity.email.verified',
    'identity.email_verification.requested',
    'identity.handle.updated',
    'app.authorized',
    'app.created',
    'app.webhook.updated',
    'organization.created',
  ])
  assert.deepEqual(exported.apps, [{ ...settings, webhook }], 'the registered app, and not the one the user connected')
  const ofApps = [app.clientSecret, ownSecret, webhookSecret]
  const secrets = [person.sessionToken, tokens.access_token, tokens.refresh_token, ...ofApps, code]
  for (const hidden of [...secrets, stranger.userId, stranger.handle])
    assert.ok(!answer.body.includes(hidden), hidden.slice(0, 12))
  // Random values can contain such letters; the names of fields cannot.
  assert.doesNotMatch(answer.body, /"\w*(?:sha256|mac)\w*":/i)
})

const isShared = process.env['TEST_DATABASE_URL'] !== undefined

/** Returns the bytes in use on the heap after garbage collection. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

/**
 * Adds audit events `first` to `last` to a user's audit log. Every eleventh event has another actor and concerns the
 * user's identity.
 */
async function fillActivity({ userId, identityId }: Person, first: number, last: number): Promise<void> {
  await sql`
    insert into audit_event (event_id, occurred_at, action, actor, user_id, identity_id, details)
    select ('00000000-0000-7000-8000-' || lpad(to_hex(nth), 12, '0'))::uuid, ${world.now()}, 'identity.updated',
      'user', case when nth % 11 = 0 then null else ${userId}::uuid end, ${identityId}::uuid, '{}'
    from generate_series(${first}::integer, ${last}::integer) as nth`.execute(world.db)
}

test('GRW-12 an export of any size uses little memory and does not block the database', async () => {
  const [person, stranger] = [await world.person(), await world.person()]
  // The embedded database inserts rows slowly, and has no time limit for a statement.
  const [pieces, each] = [isShared ? 22 : 2, 20_000]
  for (let piece = 0; piece < pieces; piece += 1) await fillActivity(person, piece * each + 1, (piece + 1) * each)
  await fillActivity(stranger, 1_000_000, 1_001_000)
  const answer = await world.api.inject({
    url: '/api/account/export',
    headers: person.headers,
    payloadAsStream: true,
  })
  assert.equal(answer.statusCode, 200)
  let [entries, chunks, heapMax] = [0, 0, 0]
  let last = ''
  const heapBefore = heapInUse()
  for await (const chunk of answer.stream()) {
    const text = String(chunk)
    for (const [, id = ''] of text.matchAll(/"entryId":"([^"]+)"/g)) {
      entries += 1
      assert.ok(last === '' || id < last, 'newest first, without duplicates')
      last = id
    }
    chunks += 1
    if (chunks % 50 === 0) heapMax = Math.max(heapMax, heapInUse() - heapBefore)
  }
  assert.equal(entries, pieces * each + 1, 'and the registration')
  assert.ok(heapMax < 16_000_000, `${heapMax} bytes of memory`)

  // More readers than there are database connections, each of which stops after the first piece.
  const slow = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const { headers } = person
      const read = await world.api.inject({ url: '/api/account/export', headers, payloadAsStream: true })
      const stream = read.stream()
      await once(stream, 'readable')
      return stream
    }),
  )
  const meanwhile = await world.api.inject({ url: '/api/auth/session', headers: stranger.headers })
  assert.equal(meanwhile.statusCode, 200, 'slow readers do not block the database')
  for (const stream of slow) stream.destroy()
})

test('the export has the role of an operator with their tokens, and not the network of an operator', async () => {
  const [person, other] = [await makeOperator(world, await world.person(), 'owner'), await world.person()]
  const made = await createToken(world, ['people.read'], { headers: person.page })
  await world.api.inject({ url: `/api/admin/identities/${other.identityId}`, headers: person.page })
  const exportOf = async ({ headers }: Pick<Person, 'headers'>) =>
    (await world.api.inject({ url: '/api/account/export', headers })).json<AccountExport>()
  const [first] = (await exportOf(person)).identities
  assert.deepEqual([first?.operator?.role, first?.operator?.tokens.map(({ name }) => name)], ['owner', ['A token']])
  assert.ok(!JSON.stringify(first).includes(made.token), 'no secret')
  const { activity, identities } = await exportOf(other)
  assert.equal(identities[0]?.operator, null)
  const viewed = activity.filter(({ action }) => action === 'identity.viewed')
  assert.deepEqual(
    viewed.map(({ address }) => address),
    [null],
  )
})

test('the export has exactly the members of its schema', async () => {
  const ada = await createSigner(world)
  const shop = await world.app()
  await shop.tokens(ada)
  await signingRequesterOf(world, shop).request(ada.identityId)
  const { body } = await world.api.inject({ url: '/api/account/export', headers: ada.headers })
  assert.ok(Value.Check(AccountExport, JSON.parse(body)))
  assert.deepEqual(Value.Clean(AccountExport, JSON.parse(body)), JSON.parse(body), 'no undocumented members')
})

test('the export contains all signing keys and signing requests of a user', async () => {
  const [ada, stranger] = [await createSigner(world), await createSigner(world)]
  const shop = signingRequesterOf(world, await world.app())
  const ask = async (payload: string, identityId = ada.identityId): Promise<string> =>
    (await shop.request(identityId, { payload, metadata: { note: 'of the app alone' } })).json().requestId
  const signature = ada.pair.sign('Pay 1 €')
  const signed = await ask('Pay 1 €')
  await ada.sign(signed, signature)
  world.pass(1)
  const denied = await ask('Pay 2 €')
  await ada.deny(denied)
  world.pass(1)
  const expired = await ask('Pay 3 €')
  const next = newSigningPair()
  await ada.rotate(rotationOf(ada.identityId, ada.pair, next))
  world.pass(1)
  const pending = await ask('Pay 4 €')
  const others = await ask('Pay 5 €', stranger.identityId)

  const answer = await world.api.inject({ url: '/api/account/export', headers: ada.headers })
  const [first] = answer.json<AccountExport>().identities
  assert.deepEqual(
    first?.signingRequests.map((request) => [request.requestId, request.status, request.publicKey, request.signature]),
    [
      [pending, 'pending', next.publicKey, undefined],
      [expired, 'expired', ada.pair.publicKey, undefined],
      [denied, 'denied', ada.pair.publicKey, undefined],
      [signed, 'signed', ada.pair.publicKey, signature],
    ],
  )
  assert.deepEqual(
    first?.signingRequests.map(({ clientId, payload, signedAs }) => [clientId, payload, signedAs]),
    [4, 3, 2, 1].map((euros) => [shop.clientId, `Pay ${euros} €`, euros === 1 ? ada.handle : null]),
  )
  assert.deepEqual(
    first?.signingKeys.map(({ keyVersion, publicKey, endedAt }) => [keyVersion, publicKey, endedAt !== null]),
    [
      [1, ada.pair.publicKey, true],
      [2, next.publicKey, false],
    ],
  )
  for (const hidden of [others, stranger.pair.publicKey, 'of the app alone']) assert.ok(!answer.body.includes(hidden))
})
