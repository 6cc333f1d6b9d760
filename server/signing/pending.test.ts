import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import type { SigningRequest } from '@countersign/protocol/signing'
import { sql } from 'kysely'
import { askBusiness, makeOrganization } from '#testing/organization.ts'
import { askerOf, createSigner, newSigningPair } from '#testing/signer.ts'
import { createWorld, type Person, type World } from '#testing/world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
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

/** Every page of a list, each below the bound. */
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

/** A text that takes most room as JSON: 60 kB. */
const largest = '\u0001'.repeat(limits.signingPayloadCharactersMax)

test('SIG-47 strangers’ apps together ask little of one signer at once, and keep no connected app out', async () => {
  const ada = await createSigner(world)
  const { id } = await makeOrganization(world, ada)
  const strangers = await Promise.all(Array.from({ length: 18 }, async () => askerOf(world, await world.app())))
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
    const asker = askerOf(world, app)
    // Who comes when all places are taken has a few beyond.
    const expected = nth < 5 ? 20 : 3
    for (let waiting = 0; waiting < 20; waiting += 1) {
      const { statusCode } = await asker.request(ada.identityId)
      assert.equal(statusCode, waiting < expected ? 201 : 429, `app ${nth}, request ${waiting}`)
    }
  }
  world.pass(300)
  for (const app of strangers.slice(0, 3)) assert.equal((await app.request(ada.identityId)).statusCode, 201)
})

test('SIG-53 the apps of one owner ask a signer who has connected none of them no more than one app may', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const ada = await createSigner(limited)
  const maker = await limited.person()
  const apps = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const app = await limited.app()
      const own = limited.db.updateTable('app').set({ owner_user_id: maker.userId })
      await own.where('client_id', '=', app.clientId).execute()
      return askerOf(limited, app)
    }),
  )
  const stranger = askerOf(limited, await limited.app())
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
  assert.equal((await stranger.request(ada.identityId)).statusCode, 201, 'what was refused keeps nobody out')
})

test('SIG-48 a list of requests is of bounded size, whatever waits and has ended, and leaves nothing out', async () => {
  const ada = await createSigner(world)
  const identityIds = [ada.identityId, await addSigner(ada), await addSigner(ada), await addSigner(ada)]
  const { id } = await makeOrganization(world, ada)
  const opened: string[] = []
  for (let nth = 0; nth < 6; nth += 1) {
    const app = askerOf(world, await world.app({ name: 'Shop' }))
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
  assert.deepEqual(expiries, expiries.toSorted(), 'the first that expires first')

  const [few] = await readPages('/api/signing/requests', ada.headers, '3')
  assert.deepEqual(idsOf(few ?? []), idsOf(pages.flat().slice(0, 3)))

  world.pass(700)
  const ended = await readPages('/api/signing/history', ada.headers, '100')
  const ofIdentities = opened.filter((_, nth) => nth % 5 !== 4)
  assert.deepEqual(idsOf(ended.flat()).toSorted(), ofIdentities.toSorted())
})

test('SIG-48 a small list is one answer, as ever', async () => {
  const ada = await createSigner(world)
  const shop = askerOf(world, await world.app({ name: 'Shop' }))
  const opened = idsOf([(await shop.request(ada.identityId)).json(), (await shop.request(ada.identityId)).json()])
  const { requests, ...more } = (await ada.listRequests()).json()
  assert.deepEqual([idsOf(requests).toSorted(), more], [opened.toSorted(), {}])
})

test('SIG-48 a request to an organization that somebody has answered takes no place on a page', async () => {
  const ada = await createSigner(world)
  const { id } = await makeOrganization(world, ada)
  const set = await askBusiness(world, ada, `PATCH /organizations/${id}`, { approvalsNeeded: 0 })
  assert.equal(set.statusCode, 200, set.body)
  const shop = askerOf(world, await world.app({ name: 'Shop' }))
  const first = (await shop.requestOf(id, { expiresInSeconds: 100 })).json().requestId
  const second = (await shop.requestOf(id, { expiresInSeconds: 200 })).json().requestId
  assert.equal((await ada.sign(first, ada.pair.sign('Pay 10 €'))).statusCode, 200)
  assert.deepEqual((await readPages('/api/signing/requests', ada.headers, '1')).map(idsOf), [[second]])
})

test('SIG-49 what waits by the thousand, as an earlier version let it, takes little memory to list', async () => {
  const ada = await createSigner(world)
  const shop = askerOf(world, await world.app({ name: 'Shop' }))
  const { requestId } = (await shop.request(ada.identityId, { payload: largest, expiresInSeconds: 3600 })).json()
  await sql`
    with asked as (
      insert into signing_request (identity_id, request_id, client_id, payload, key_version, public_key, status,
        created_at, expires_at)
      select identity_id, gen_random_uuid(), client_id, payload, key_version, public_key, status, created_at, expires_at
      from signing_request cross join generate_series(1, 1000) where request_id = ${requestId}
      returning request_id, identity_id, client_id
    ) insert into signing_request_place (request_id, identity_id, client_id) select * from asked`.execute(world.db)

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
  // Each is a few copies of a megabyte; unbounded eight of them took 2,600 MB.
  assert.ok(most - before < 200 * 1024 * 1024, `${Math.round((most - before) / 1e6)} MB more`)
  for (const each of answers) assert.ok(each.json().nextCursor)
  // What the database must be like is looked at when the world is closed: of so many by far too many steps.
  await sql`delete from signing_request where identity_id = ${ada.identityId}`.execute(world.db)
  await sql`delete from signing_request_place where identity_id = ${ada.identityId}`.execute(world.db)
})
