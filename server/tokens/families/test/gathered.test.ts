import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import type pg from 'pg'
import { sha256 } from '#platform/crypto/secret.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'
import { findAccessStatement } from '#tokens/families/access-store.ts'

let world: TestWorld
let app: TestApp
let base: string
/** True while the database returns rows in each other's position. */
let mixes = false

/** Creates a pool that returns each row of a batched statement to the next caller. */
function mixing(pool: pg.Pool): pg.Pool {
  const query = async (requested: string | pg.QueryConfig) => {
    const result = await (typeof requested === 'string'
      ? pool.query(requested)
      : pool.query<{ nth?: number }>(requested))
    const places = result.rows.map(({ nth }) => nth)
    if (mixes) result.rows.forEach((row, index) => Object.assign(row, nthOf(places, index)))
    return result
  }
  return new Proxy(pool, {
    get(target, key) {
      if (key === 'query') return query
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const nthOf = (places: (number | undefined)[], index: number) => {
  const nth = places[(index + 1) % places.length]
  return nth !== undefined && { nth }
}

before(async () => {
  world = await createWorld({ between: mixing })
  app = await world.app()
  base = await world.api.listen({ port: 0, host: '127.0.0.1' })
})
beforeEach(() => {
  mixes = false
})
after(() => world.close())

type Holder = Person & { access: string; refresh: string; code: string }

/** Creates users with an access token, a refresh token and a code each. */
async function holders(count: number): Promise<Holder[]> {
  const people: Holder[] = []
  for (let made = 0; made < count; made += 1) {
    const person = await world.person()
    const { access_token: access, refresh_token: refresh } = await app.tokens(person)
    people.push({ ...person, access, refresh, code: await app.code(person) })
  }
  return people
}

type Outcome = { status: number; whose: string | undefined; access?: string; refresh?: string }
const gone: Outcome = { status: 0, whose: undefined }

/** Sends a request over its own connection, as apps do. `signal` aborts the request of an impatient client. */
async function ask(path: string, init: RequestInit): Promise<Outcome> {
  try {
    const answer = await fetch(`${base}${path}`, init)
    const body = JSON.parse(await answer.text())
    const whose = body.sub ?? body.user?.id
    return { status: answer.status, whose, access: body.access_token, refresh: body.refresh_token }
  } catch (error) {
    if (init.signal?.aborted) return gone
    throw error
  }
}
const userinfo = (token: string, signal: AbortSignal | null = null) =>
  ask('/api/oauth/userinfo', { headers: { authorization: `Bearer ${token}` }, signal })
const token = (fields: Record<string, string>, signal: AbortSignal | null = null) =>
  ask('/api/oauth/token', { method: 'POST', body: new URLSearchParams({ ...app.credentials, ...fields }), signal })
const refresh = (refreshToken: string, signal: AbortSignal | null = null) =>
  token({ grant_type: 'refresh_token', refresh_token: refreshToken }, signal)
const redeem = (code: string, signal: AbortSignal | null = null) =>
  token({ grant_type: 'authorization_code', code, redirect_uri: app.redirectUri }, signal)

/** Aborts a request as soon as it is sent. */
const impatient = () => AbortSignal.timeout(1)

test('BAT-01 concurrent callers each get their own result while others fail, repeat or cancel', async () => {
  const people = await holders(24)
  const unknown = (of: Holder) => of.access.slice(0, -8) + randomBytes(4).toString('hex')
  const requested = people.flatMap((person) => [
    ...Array.from({ length: 3 }, () => ({ person, received: userinfo(person.access) })),
    { person, received: userinfo(unknown(person)) },
    { person, received: userinfo(person.access, impatient()) },
    { person, received: refresh(person.refresh) },
    { person, received: refresh(person.refresh) },
    { person, received: refresh(person.refresh, impatient()) },
    { person, received: redeem(person.code) },
    { person, received: redeem(person.code) },
  ])
  const counts = new Map<number, number>()
  for (const { person, received } of requested) {
    const { status, whose, access } = await received
    counts.set(status, (counts.get(status) ?? 0) + 1)
    if (status !== 200) continue
    assert.equal(whose, person.identityId)
    if (access === undefined) continue
    const by = await userinfo(access)
    // A code that was presented twice revokes the tokens issued for it.
    assert.ok(by.status === 401 || by.whose === person.identityId)
  }
  assert.ok((counts.get(200) ?? 0) >= people.length * 5)
  assert.ok((counts.get(401) ?? 0) >= people.length && (counts.get(400) ?? 0) >= people.length)
  assert.equal(counts.get(500), undefined)
})

test('BAT-01 a caller that makes a batched statement fail fails alone and gets no row of another', async () => {
  const people = await holders(12)
  const find = world.kernel.batched<{ identityId: string }>(findAccessStatement)
  const now = world.now()
  const asking = people.flatMap(({ identityId, access }) => [
    { identityId, values: [identityId, sha256(access), now] },
    { identityId: undefined, values: ['no uuid', sha256(access), now] },
    { identityId: undefined, values: [randomUUID(), sha256(access), now] },
  ])
  const settled = await Promise.allSettled(asking.map(({ values }) => find(values)))
  settled.forEach((each, index) => {
    const { identityId, values } = asking[index] ?? assert.fail()
    if (values[0] === 'no uuid') assert.equal(each.status, 'rejected')
    else assert.equal(each.status === 'fulfilled' && each.value?.identityId, identityId)
  })
})

test('BAT-02 a batched query returns nothing when the database answers with swapped rows', async () => {
  const people = await holders(16)
  mixes = true
  const received = await Promise.all(
    people.flatMap((person) => [
      userinfo(person.access).then((answer) => ({ person, answer })),
      refresh(person.refresh).then((answer) => ({ person, answer })),
      redeem(person.code).then((answer) => ({ person, answer })),
    ]),
  )
  for (const { person, answer } of received)
    assert.ok(answer.status === 500 || answer.whose === person.identityId, JSON.stringify(answer))
  const kinds = [0, 1, 2].map((kind) => received.filter((_, index) => index % 3 === kind))
  for (const kind of kinds) assert.ok(kind.some(({ answer }) => answer.status === 500))
  mixes = false
  for (const person of people) assert.equal((await userinfo(person.access)).whose, person.identityId)
})
