import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import type { ResponseOf as AnswerOf } from '@countersign/protocol/api'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { sql } from 'kysely'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { signingRequesterOf, createSigner, newSigningPair } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
type Pending = AnswerOf<'GET /api/signing/pending'>
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const idsOf = (requests: { requestId: string }[]) => requests.map(({ requestId }) => requestId)

async function addSigner({ headers, handle }: Person): Promise<string> {
  const payload = { handle: `${handle}-${identities++}`, displayName: 'Another' }
  const made = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  const { identityId } = made.json<{ identityId: string }>()
  const key = { publicKey: newSigningPair().publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
  const url = `/api/signing/keys/${identityId}`
  assert.equal((await world.api.inject({ method: 'POST', url, headers, payload: key })).statusCode, 201)
  return identityId
}
let identities = 0

/** Reads every page of a list and checks that each is below the limit. */
async function readPages(path: string, headers: Person['headers'], limit = '') {
  const pages: SigningRequest[][] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = new URLSearchParams({ ...(cursor && { cursor }), ...(limit && { limit }) })
    const answer = await world.api.inject({ url: `${path}?${query}`, headers })
    assert.equal(answer.statusCode, 200, answer.body)
    assert.ok(answer.rawPayload.length <= limits.signingPageBytesMax + 100, `${answer.rawPayload.length} bytes`)
    const page: { requests: SigningRequest[]; nextCursor?: string | null } = answer.json()
    pages.push(page.requests)
    cursor = page.nextCursor ?? null
  }
  return pages
}

/** Text that takes the most room as JSON: 60 kB. */
const largest = '\u0001'.repeat(limits.signingPayloadCharactersMax)

test('SIG-47 unconnected apps together have few pending requests per signer and block no connected app', async () => {
  const ada = await createSigner(world)
  const { id } = await createOrganization(world, ada)
  const strangers = await Promise.all(
    Array.from({ length: 18 }, async () => signingRequesterOf(world, await world.app())),
  )
  for (const ask of [
    (app: (typeof strangers)[number]) => app.request(ada.identityId),
    (app: (typeof strangers)[number]) => app.requestOf(id),
  ]) {
    const answers = []
    for (const app of strangers) for (let nth = 0; nth < 3; nth += 1) answers.push(await ask(app))
    assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 50)
    const refused = answers.find(({ statusCode }) => statusCode !== 201)
    assert.ok(refused)
    assert.deepEqual(errorOf(refused), [429, 'too_many_pending'])
    assert.equal(refused.headers['retry-after'], '300')
  }

  for (let nth = 0; nth < 6; nth += 1) {
    const app = await world.app()
    await app.tokens(ada)
    const requester = signingRequesterOf(world, app)
    // Apps that come when all places are taken have a few reserved ones.
    const expected = nth < 5 ? 20 : 3
    for (let waiting = 0; waiting < 20; waiting += 1) {
      const { statusCode } = await requester.request(ada.identityId)
      assert.equal(statusCode, waiting < expected ? 201 : 429, `app ${nth}, request ${waiting}`)
    }
  }
  world.pass(300)
  for (const app of strangers.slice(0, 3)) assert.equal((await app.request(ada.identityId)).statusCode, 201)
})

test('SIG-53 the unconnected apps of one owner together have the limit of one app', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const ada = await createSigner(limited)
  const maker = await limited.person()
  const apps = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const app = await limited.app()
      const own = limited.db.updateTable('app').set({ owner_user_id: maker.userId })
      await own.where('client_id', '=', app.clientId).execute()
      return signingRequesterOf(limited, app)
    }),
  )
  const stranger = signingRequesterOf(limited, await limited.app())
  let opened = 0
  for (let minute = 0; minute < 12; minute += 1) {
    const answers = []
    for (const app of [...apps, ...apps]) answers.push(await app.request(ada.identityId, { expiresInSeconds: 60 }))
    const taken = answers.filter(({ statusCode }) => statusCode === 201)
    assert.ok(taken.length <= 3, `${taken.length} wait`)
    opened += taken.length
    limited.pass(61)
  }
  assert.equal(opened, 20)
  assert.equal((await stranger.request(ada.identityId)).statusCode, 201, 'rejected requests use no quota')
})

test('SIG-48 a page of requests has a maximum size, and paging omits no request', async () => {
  const ada = await createSigner(world)
  const identityIds = [ada.identityId, await addSigner(ada), await addSigner(ada), await addSigner(ada)]
  const { id } = await createOrganization(world, ada)
  const opened: string[] = []
  for (let nth = 0; nth < 6; nth += 1) {
    const app = signingRequesterOf(world, await world.app({ name: 'Shop' }))
    for (const [place, identityId] of identityIds.entries()) {
      const fields = { payload: largest, expiresInSeconds: 600 + 10 * ((nth + place) % 3) }
      opened.push((await app.request(identityId, fields)).json().requestId)
    }
    opened.push((await app.requestOf(id, { payload: largest, expiresInSeconds: 605 })).json().requestId)
  }
  const pages = await readPages('/api/signing/requests', ada.headers)
  assert.ok(pages.length > 1)
  assert.deepEqual(idsOf(pages.flat()).toSorted(), opened.toSorted())
  const expiries = pages.flat().map(({ expiresAt }) => expiresAt)
  assert.deepEqual(expiries, expiries.toSorted(), 'earliest expiry first')

  const [few] = await readPages('/api/signing/requests', ada.headers, '3')
  assert.deepEqual(idsOf(few ?? []), idsOf(pages.flat().slice(0, 3)))

  world.pass(700)
  const ended = await readPages('/api/signing/history', ada.headers, '100')
  const ofIdentities = opened.filter((_, nth) => nth % 5 !== 4)
  assert.deepEqual(idsOf(ended.flat()).toSorted(), ofIdentities.toSorted())
})

test('SIG-48 a small list is one page', async () => {
  const ada = await createSigner(world)
  const shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
  const opened = idsOf([(await shop.request(ada.identityId)).json(), (await shop.request(ada.identityId)).json()])
  const { requests, ...more } = (await ada.listRequests()).json()
  assert.deepEqual([idsOf(requests).toSorted(), more], [opened.toSorted(), {}])
})

test('SIG-48 an answered request to an organization takes no place on a page', async () => {
  const ada = await createSigner(world)
  const { id } = await createOrganization(world, ada)
  const set = await businessRequest(world, ada, `PATCH /organizations/${id}`, { approvalsNeeded: 0 })
  assert.equal(set.statusCode, 200, set.body)
  const shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
  const first = (await shop.requestOf(id, { expiresInSeconds: 100 })).json().requestId
  const second = (await shop.requestOf(id, { expiresInSeconds: 200 })).json().requestId
  assert.equal((await ada.sign(first, ada.pair.sign('Pay 10 €'))).statusCode, 200)
  assert.deepEqual((await readPages('/api/signing/requests', ada.headers, '1')).map(idsOf), [[second]])
})

test('SIG-54 requests of connected apps come before those of unconnected apps', async () => {
  const ada = await createSigner(world)
  const { id } = await createOrganization(world, ada)
  const shop = await world.app({ name: 'Shop' })
  await shop.tokens(ada)
  await shop.tokens(ada, { organizationId: id, scope: 'openid' })
  for (let nth = 0; nth < 3; nth += 1) {
    const stranger = signingRequesterOf(world, await world.app())
    for (let waiting = 0; waiting < 3; waiting += 1) {
      const longest = { payload: '😀'.repeat(limits.signingPayloadCharactersMax), expiresInSeconds: 3000 }
      assert.equal((await stranger.request(ada.identityId, longest)).statusCode, 201)
      assert.equal((await stranger.requestOf(id, longest)).statusCode, 201)
    }
  }
  const { request, requestOf } = signingRequesterOf(world, shop)
  const later = (await request(ada.identityId, { expiresInSeconds: 3600 })).json().requestId
  const sooner = (await requestOf(id, { expiresInSeconds: 3500 })).json().requestId

  const pages = await readPages('/api/signing/requests', ada.headers)
  assert.ok(pages.length > 2)
  assert.deepEqual(idsOf(pages.flat()).slice(0, 2), [sooner, later])
  const connected = pages.flat().map((each) => each.connected)
  assert.deepEqual(connected, [true, true, ...Array<boolean>(18).fill(false)])
})

test('SIG-54 connecting or disconnecting an app between two pages omits no request', async () => {
  const ada = await createSigner(world)
  const { id } = await createOrganization(world, ada)
  const apps = await Promise.all(Array.from({ length: 6 }, () => world.app()))
  const [first, , , , , last] = apps
  assert.ok(first && last)
  await first.tokens(ada)
  const opened: string[] = []
  for (const [nth, app] of apps.entries()) {
    const { request, requestOf } = signingRequesterOf(world, app)
    opened.push((await request(ada.identityId, { expiresInSeconds: 600 + nth })).json().requestId)
    opened.push((await requestOf(id, { expiresInSeconds: 600 + nth })).json().requestId)
  }
  const ofFirst = opened[0]
  const read = async (query: string) =>
    (await world.api.inject({ url: `/api/signing/requests?limit=2${query}`, headers: ada.headers })).json()
  const { requests, nextCursor } = await read('')
  assert.equal(requests[0].requestId, ofFirst)

  world.pass(1)
  await last.tokens(ada)
  await last.tokens(ada, { organizationId: id, scope: 'openid' })
  const { authorizations } = (await world.api.inject({ url: '/api/oauth/authorizations', headers: ada.headers })).json<{
    authorizations: { id: string; clientId: string }[]
  }>()
  const given = authorizations.find(({ clientId }) => clientId === first.clientId)
  const url = `/api/oauth/authorizations/${given?.id}`
  assert.equal((await world.api.inject({ method: 'DELETE', url, headers: ada.headers })).statusCode, 204)
  const rest: string[] = []
  for (let cursor = nextCursor; cursor;) {
    const page = await read(`&cursor=${cursor}`)
    rest.push(...idsOf(page.requests))
    cursor = page.nextCursor
  }
  assert.deepEqual(new Set([...idsOf(requests), ...rest]), new Set(opened))
})

test('SIG-55 the polled summary has counts per identity, and titles instead of texts', async () => {
  const ada = await createSigner(world)
  const second = await addSigner(ada)
  const { id, name } = await createOrganization(world, ada)
  const shop = await world.app({ name: 'Shop' })
  await shop.tokens(ada)
  const payload = '😀'.repeat(limits.signingPayloadCharactersMax)
  for (let nth = 0; nth < 10; nth += 1) {
    const stranger = signingRequesterOf(world, await world.app({ name: 'Stranger' }))
    for (let waiting = 0; waiting < 3; waiting += 1)
      assert.equal((await stranger.request(ada.identityId, { payload })).statusCode, 201)
    assert.equal((await stranger.request(second, { payload })).statusCode, 201)
    assert.equal((await stranger.requestOf(id, { payload })).statusCode, 201)
  }
  const requested = await signingRequesterOf(world, shop).request(ada.identityId, { expiresInSeconds: 900 })
  const { requestId, expiresAt } = requested.json<{ requestId: string; expiresAt: string }>()
  const read = (query = '', headers = ada.headers) => world.api.inject({ url: `/api/signing/pending${query}`, headers })

  const whole = await read()
  assert.ok(whole.rawPayload.length < 32 * 1024, `${whole.rawPayload.length} bytes`)
  const { count, identities, requests, nextCursor } = whole.json<Pending>()
  assert.equal(count, 51)
  const counts = [
    { identityId: ada.identityId, count: 31 },
    { identityId: second, count: 10 },
  ]
  assert.deepEqual(
    identities,
    counts.toSorted((one, other) => one.identityId.localeCompare(other.identityId)),
  )
  assert.equal(nextCursor, undefined)
  assert.deepEqual(requests[0], {
    requestId,
    identityId: ada.identityId,
    handle: ada.handle,
    app: { clientId: shop.clientId, name: 'Shop' },
    title: 'Pay 10 €',
    connected: true,
    expiresAt,
  })
  const ofOrganization = requests.filter(({ organization }) => organization?.id === id)
  assert.equal(ofOrganization.length, 10)
  for (const { organization, handle } of ofOrganization)
    assert.deepEqual([organization?.name, handle], [name, ada.handle])
  assert.deepEqual(
    idsOf(requests),
    idsOf((await readPages('/api/signing/requests', ada.headers)).flat()),
    'the same requests in the same order',
  )

  const first = (await read('?limit=20')).json<Pending>()
  const next = (await read(`?limit=100&cursor=${first.nextCursor}`)).json<Pending>()
  assert.deepEqual([first.count, next.count, next.nextCursor], [51, 51, undefined])
  assert.deepEqual(idsOf([...first.requests, ...next.requests]), idsOf(requests))

  const empty = await read('', (await createSigner(world)).headers)
  assert.deepEqual(empty.json(), { count: 0, identities: [], requests: [] })
  world.pass(301)
  assert.deepEqual((await read()).json<Pending>().identities, [{ identityId: ada.identityId, count: 1 }])
})

test('SIG-55 a title in the polled summary is the first line with text, shortened, for any characters', async () => {
  const ada = await createSigner(world)
  const { id } = await createOrganization(world, ada)
  const app = await world.app({ name: 'Shop' })
  await app.tokens(ada)
  await app.tokens(ada, { organizationId: id, scope: 'openid' })
  const shop = signingRequesterOf(world, app)
  const titles: [payload: string, title: string][] = [
    ['\r\n \t\nPay 10 €\nto Paper Shop', 'Pay 10 €'],
    ['😀'.repeat(limits.signingPayloadCharactersMax), `${'😀'.repeat(80)}…`],
    ['Pay\u202E01\u0001\u2028Approved', 'Pay\u202E01\u0001'],
    [`${'\n'.repeat(1000)}Pay 10 €`, ''],
    [largest, `${'\u0001'.repeat(80)}…`],
  ]
  for (const [index, [payload]] of titles.entries()) {
    const fields = { payload, expiresInSeconds: 600 + index }
    assert.equal((await shop.request(ada.identityId, fields)).statusCode, 201)
    assert.equal((await shop.requestOf(id, fields)).statusCode, 201)
  }
  const pending = await world.api.inject({ url: '/api/signing/pending', headers: ada.headers })
  const { requests } = pending.json<Pending>()
  for (const ofOrganization of [false, true]) {
    const shown = requests.filter(({ organization }) => (organization !== undefined) === ofOrganization)
    assert.deepEqual(
      shown.map(({ title }) => title),
      titles.map(([, title]) => title),
    )
  }
})

test('SIG-49 listing thousands of pending requests from an earlier version takes little memory', async () => {
  const ada = await createSigner(world)
  const shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
  const { requestId } = (await shop.request(ada.identityId, { payload: largest, expiresInSeconds: 3600 })).json()
  await sql`
    with requested as (
      insert into signing_request (identity_id, request_id, client_id, payload, key_version, public_key, status,
        created_at, expires_at)
      select identity_id, gen_random_uuid(), client_id, payload, key_version, public_key, status, created_at, expires_at
      from signing_request cross join generate_series(1, 1000) where request_id = ${requestId}
      returning request_id, identity_id, client_id
    ) insert into signing_request_route (request_id, identity_id, client_id) select * from requested`.execute(world.db)

  const before = process.memoryUsage().rss
  let most = before
  const watching = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5)
  const answers = await Promise.all(Array.from({ length: 8 }, () => ada.listRequests()))
  clearInterval(watching)
  most = Math.max(most, process.memoryUsage().rss)
  for (const { statusCode, rawPayload } of answers) {
    assert.equal(statusCode, 200)
    assert.ok(rawPayload.length <= limits.signingPageBytesMax + 100, `${rawPayload.length} bytes`)
  }
  // Each page is a few copies of a megabyte; without the limit, eight of them took 2,600 MB.
  assert.ok(most - before < 200 * 1024 * 1024, `${Math.round((most - before) / 1e6)} MB more`)
  for (const each of answers) assert.ok(each.json().nextCursor)
  // The world checks the database when it closes, which takes too long with so many rows.
  await sql`delete from signing_request where identity_id = ${ada.identityId}`.execute(world.db)
  await sql`delete from signing_request_route where identity_id = ${ada.identityId}`.execute(world.db)
})
