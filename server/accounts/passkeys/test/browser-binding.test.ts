import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createAuthenticator, type Authenticator } from '#testing/authenticator.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Headers = Record<string, string>
const place = { origin: 'http://localhost:4401', rpId: 'localhost' }
const page: Headers = { origin: place.origin, 'sec-fetch-site': 'same-site' }
const post = (url: string, payload: object, headers: Headers = {}) =>
  world.api.inject({ method: 'POST', url, payload, headers })

/** Opens a page in a separate browser that keeps the cookies of its ceremonies. */
function openBrowser(name = 'countersign-passkey') {
  let cookie = ''
  return async (url: string, payload: object, headers: Headers = {}) => {
    const answer = await post(url, payload, { ...page, ...(cookie && { cookie }), ...headers })
    const set = [answer.headers['set-cookie']].flat().find((each) => each?.startsWith(`${name}=`))
    if (set !== undefined) [cookie = ''] = set.split(';')
    return answer
  }
}

type Ceremony = {
  /** Path of a ceremony, its session and the body of its start. */
  path: string
  headers?: Headers
  start: object
  answer: (options: Parameters<Authenticator['register']>[0]) => object
}
const enrolled = (options: Parameters<Authenticator['register']>[0]) => createAuthenticator(place).register(options)

const ceremonies: Record<string, (person: Person) => Promise<Ceremony>> = {
  registration: async () => ({
    path: '/api/auth/register',
    start: { handle: `bound-${randomBytes(6).toString('hex')}`, displayName: 'Bound' },
    answer: enrolled,
  }),
  'a sign-in': async ({ authenticator }) => ({
    path: '/api/auth/login',
    start: {},
    answer: (options) => authenticator.authenticate(options),
  }),
  'a new proof of presence': async ({ authenticator, headers }) => ({
    path: '/api/auth/reauthenticate',
    headers,
    start: {},
    answer: (options) => authenticator.authenticate(options),
  }),
  'adding a passkey': async ({ headers }) => ({ path: '/api/auth/passkeys', headers, start: {}, answer: enrolled }),
  recovery: async ({ handle, headers }) => {
    const recoveryAuth = randomBytes(32).toString('base64url')
    const kept = { recoveryAuth, ciphertext: 'x' }
    await world.api.inject({ method: 'PUT', url: '/api/account/recovery', headers, payload: kept })
    return { path: '/api/auth/recover', start: { handle, recoveryAuth }, answer: enrolled }
  },
}

for (const [what, prepare] of Object.entries(ceremonies)) {
  test(`PKY-03 ${what} that a page started can only be finished or ended in its browser`, async () => {
    const { path, headers, start, answer } = await prepare(await world.person())
    const [here, elsewhere, fresh] = [openBrowser(), openBrowser(), openBrowser()]
    await elsewhere('/api/auth/login/start', {})
    const { flowId, options } = (await here(`${path}/start`, start, headers)).json()
    const finish = { flowId, credential: answer(options) }
    for (const other of [elsewhere, fresh, post]) {
      const refused = await other(`${path}/finish`, finish, headers)
      assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_flow'])
      assert.equal(refused.headers['set-cookie'], undefined)
    }
    const finished = await here(`${path}/finish`, finish, headers)
    assert.ok(finished.statusCode < 300, finished.body)
  })

  test(`PKY-03 ${what} that an API client started cannot be finished by a page`, async () => {
    const { path, headers, start, answer } = await prepare(await world.person())
    const victim = openBrowser()
    await victim('/api/auth/login/start', {})
    const begun = await post(`${path}/start`, start, headers)
    assert.equal(begun.headers['set-cookie'], undefined, 'an API client gets no cookie')
    const { flowId, options } = begun.json()
    const finish = { flowId, credential: answer(options) }
    for (const other of [victim, openBrowser()]) {
      const refused = await other(`${path}/finish`, finish, headers)
      assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_flow'])
    }
    const finished = await post(`${path}/finish`, finish, headers)
    assert.ok(finished.statusCode < 300, `an API client needs no cookie: ${finished.body}`)
  })
}

test('PKY-03 two tabs of one browser do not disturb each other, and a forged cookie is replaced', async () => {
  const { authenticator } = await world.person()
  const browser = openBrowser()
  const tabs = [await browser('/api/auth/login/start', {}), await browser('/api/auth/login/start', {})]
  for (const tab of tabs) {
    const { flowId, options } = tab.json()
    const finish = { flowId, credential: authenticator.authenticate(options) }
    assert.equal((await browser('/api/auth/login/finish', finish)).statusCode, 200)
  }
  for (const cookie of [
    'countersign-passkey=x',
    'countersign-passkey=',
    'countersign-passkey=a; countersign-passkey=b',
  ]) {
    const begun = await post('/api/auth/login/start', {}, { ...page, cookie })
    assert.match(String([begun.headers['set-cookie']].flat()[1]), /^countersign-passkey=[\w-]{43};/, cookie)
  }
})

test('PKY-03 the binding cookie is HttpOnly and SameSite, and Secure where there is TLS', async (t) => {
  const hosted = await createWorld({
    environment: {
      BASE_URL: 'https://api.example.com',
      AUTH_URL: 'https://id.example.com',
      BUSINESS_URL: 'https://business.example.com',
      ALLOW_EMBEDDED: '1',
    },
  })
  t.after(() => hosted.close())
  const begin = (headers: Headers) =>
    hosted.api.inject({ method: 'POST', url: '/api/auth/login/start', payload: {}, headers })
  const { headers, body } = await begin({ origin: 'https://id.example.com', 'sec-fetch-site': 'same-site' })
  const [cookie = '', ...more] = [headers['set-cookie']].flat().map(String)
  assert.deepEqual(more, [])
  assert.match(cookie, /^__Host-countersign-passkey=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/)
  assert.ok(!body.includes(cookie.slice(27, 70)))
  const rows = await hosted.db.selectFrom('passkey_flow').select('browser_sha256').execute()
  assert.deepEqual(
    rows.map(({ browser_sha256: hash }) => hash?.length),
    [32],
  )
  for (const site of ['cross-site', 'none'])
    assert.equal((await begin({ 'sec-fetch-site': site })).headers['set-cookie'], undefined, site)
})
