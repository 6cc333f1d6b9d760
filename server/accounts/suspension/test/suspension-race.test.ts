import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { openBrowser, exchange, newParams } from '#testing/federated-browser.ts'
import { createConnectors, type Connectors } from '#testing/connectors.ts'
import { isShared, untilWaiting } from '#testing/lock-waits.ts'
import { createOrganization } from '#testing/organization.ts'
import { newSigningPair, type SigningPair, signingRequesterOf } from '#testing/signer.ts'
import { type Person, createWorld, postForm, postToken, type TestApp, type TestWorld } from '#testing/world.ts'
import { mountModules, openServices } from '../../../services.ts'

type Api = TestWorld['api']
type Node = Pick<TestWorld, 'api' | 'auth' | 'business'>

let world: TestWorld
let nodes: [Node, Node, Node]
let connectors: Connectors
before(async () => {
  world = await createWorld()
  nodes = [world, await addNode(), await addNode()]
  connectors = await createConnectors(world)
})
after(async () => {
  for (const { api, auth, business } of nodes.slice(1)) await Promise.all([api.close(), auth.close(), business.close()])
  await world.close()
})

/** Creates another node on the database: it shares nothing else with the first one. */
async function addNode(): Promise<Node> {
  const services = await openServices(world.kernel, world.services.pages)
  return mountModules(services, { ping: () => Promise.resolve() })
}

type Answer = { statusCode: number; body: string; json: () => Record<string, unknown> }

/** Request that a suspended account or identity must not succeed with. `gains` collects what a success gave. */
type Kind = (api: Api, gains: Gains) => Promise<Answer>
type Gains = { sessions: string[]; codes: string[]; access: string[]; refresh: string[]; delegated: string[] }

/** Kinds of requests that the account of a suspended identity still makes, if another identity is left. */
const ofAccount = ['sign in', 'read the session', 'add a passkey', 'ask another device']

/** Prepares a user with everything that the kinds of requests need, and returns the kinds by their names. */
async function prepare(scope: 'account' | 'identity') {
  const person = await world.person()
  await addSibling(person)
  const { source: app } = connectors
  const agreed = await connectors.consent(person)
  assert.equal(agreed.statusCode, 200, agreed.body)
  const pair = newSigningPair()
  const key = { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
  const { headers, identityId } = person
  const url = `/api/signing/keys/${identityId}`
  const keyed = await world.api.inject({ method: 'POST', url, headers, payload: key })
  assert.equal(keyed.statusCode, 201, keyed.body)
  const lasting = await app.tokens(person)
  // One after another: at once, each would wait for the locks of those before it.
  const codes: string[] = []
  while (codes.length < 40) codes.push(await app.code(person))
  const browser = await openBrowser(world, person)
  const assertions: string[] = []
  while (assertions.length < 10) assertions.push(await browser.assertionFor(app, newParams().params))
  const { id } = await createOrganization(world, person)
  const approve = approveFor(person, (await signingRequesterOf(world, app).requestOf(id)).json().requestId, pair)
  const kinds = { ...ofSession(person, app), ...ofTokens(app, lasting, codes), ...ofOthers(person, app), approve }
  const refused = Object.entries(kinds).filter(([name]) => scope === 'account' || !ofAccount.includes(name))
  return { person, kinds: { ...Object.fromEntries(refused), 'redeem an assertion': redeemAssertions(app, assertions) } }
}

async function addSibling({ headers }: Person): Promise<void> {
  const payload = { handle: `sibling-${randomBytes(6).toString('hex')}`, displayName: 'Sibling' }
  const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  assert.equal(added.statusCode, 201, added.body)
}

const keep = (into: string[], value: unknown) => typeof value === 'string' && into.push(value)

function ofSession(person: Person, app: TestApp): Record<string, Kind> {
  const { headers, identityId } = person
  const asUser = { headers }
  return {
    'sign in': async (api, { sessions }) => {
      const started = await api.inject({ method: 'POST', url: '/api/auth/login/start', payload: {} })
      const { flowId, options } = started.json()
      const payload = { flowId, credential: person.authenticator.authenticate(options) }
      const answer = await api.inject({ method: 'POST', url: '/api/auth/login/finish', payload })
      if (answer.statusCode === 200) keep(sessions, answer.json().sessionToken)
      return answer
    },
    'read the session': (api) => api.inject({ url: '/api/auth/session', ...asUser }),
    'add a passkey': (api) => api.inject({ method: 'POST', url: '/api/auth/passkeys/start', ...asUser, payload: {} }),
    'ask another device': (api) =>
      api.inject({
        method: 'POST',
        url: '/api/account/device-approvals',
        ...asUser,
        payload: { commitment: randomBytes(32).toString('base64url') },
      }),
    'change the identity': (api) =>
      api.inject({
        method: 'PATCH',
        url: `/api/identities/${identityId}`,
        ...asUser,
        payload: { displayName: randomBytes(4).toString('hex') },
      }),
    'consent to an app': async (api, gains) => {
      const payload = {
        clientId: app.clientId,
        redirectUri: app.redirectUri,
        identityId,
        scope: 'openid offline_access',
      }
      const answer = await api.inject({ method: 'POST', url: '/api/oauth/authorize', ...asUser, payload })
      const { redirectUrl } = answer.json()
      if (typeof redirectUrl === 'string') keep(gains.codes, new URL(redirectUrl).searchParams.get('code'))
      return answer
    },
  }
}

function ofTokens(
  app: TestApp,
  lasting: { access_token: string; access_token_jwt: string; refresh_token: string },
  codes: string[],
): Record<string, Kind> {
  const token = (api: Api, fields: Record<string, string>) => postToken(api, { ...app.credentials, ...fields })
  const collect = (answer: Answer, gains: Gains) => {
    keep(gains.access, answer.json()['access_token'])
    keep(gains.refresh, answer.json()['refresh_token'])
    return answer
  }
  return {
    'redeem a code': async (api, gains) => {
      const fields = { grant_type: 'authorization_code', code: codes.pop() ?? '', redirect_uri: app.redirectUri }
      return collect(await token(api, fields), gains)
    },
    refresh: async (api, gains) =>
      collect(await token(api, { grant_type: 'refresh_token', refresh_token: lasting.refresh_token }), gains),
    'read the user': (api) =>
      api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${lasting.access_token_jwt}` } }),
    introspect: async (api) => {
      const answer = await postForm(api, '/api/oauth/introspect', { ...app.credentials, token: lasting.access_token })
      return answer.json().active === true ? answer : { ...answer, json: () => answer.json(), statusCode: 400 }
    },
    'exchange a token': async (api, gains) => {
      const answer = await token(api, {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: lasting.access_token_jwt,
        resource: connectors.resourceKey,
      })
      keep(gains.delegated, answer.json().access_token)
      return answer
    },
  }
}

/** Approves a request to the user's organization, which stays pending because no member signs it. */
function approveFor({ headers }: Person, requestId: string, pair: SigningPair): Kind {
  const payload = { signature: pair.sign('Pay 10 €') }
  return (api) => api.inject({ method: 'POST', url: `/api/signing/requests/${requestId}/approve`, headers, payload })
}

function ofOthers({ identityId }: Person, { credentials }: TestApp): Record<string, Kind> {
  const { client_id: clientId, client_secret: clientSecret } = credentials
  return {
    'request a signature': (api) =>
      api.inject({
        method: 'POST',
        url: '/api/signing/request',
        payload: { clientId, clientSecret, identityId, payload: 'Pay 10 €' },
      }),
  }
}

const redeemAssertions =
  (app: TestApp, assertions: string[]): Kind =>
  async (api, gains) => {
    const answer = await exchange({ api }, app, assertions.pop() ?? '')
    keep(gains.access, answer.json().access_token)
    keep(gains.refresh, answer.json().refresh_token)
    return answer
  }

/** Lanes of each kind of request: with these and three nodes, each kind is in progress many times when it ends. */
const lanesOfKind = 4

for (const scope of ['account', 'identity'] as const)
  test(`PEO-01 no request of any kind succeeds after an ${scope} was suspended on one of three nodes`, async () => {
    for (let round = 0; round < 3; round += 1) {
      const { person, kinds } = await prepare(scope)
      const gains: Gains = { sessions: [], codes: [], access: [], refresh: [], delegated: [] }
      let isSuspended = false
      const late: string[] = []
      const begun = Object.keys(kinds).map(() => Promise.withResolvers<void>())
      const lanes = Object.entries(kinds).flatMap(([name, kind], nth) =>
        Array.from({ length: lanesOfKind }, async (_, lane) => {
          for (let turn = lane; ; turn += 1) {
            const after = isSuspended
            const answer = await kind(nodes[turn % nodes.length]?.api ?? world.api, gains)
            begun[nth]?.resolve()
            if (after && answer.statusCode < 300) late.push(`${name}: ${answer.body}`)
            // Each lane makes one more request after the suspension, on each node.
            if (after && turn % nodes.length === 0) return
            await setImmediate()
          }
        }),
      )
      await Promise.all(begun.map(({ promise }) => promise))
      const answer = await (nodes[round % nodes.length] ?? world).api.inject({
        method: 'POST',
        url: `/api/admin/identities/${person.identityId}/suspension`,
        headers: world.admin,
        payload: { reason: 'Left the company', scope },
      })
      isSuspended = true
      assert.equal(answer.statusCode, 200, answer.body)
      await Promise.all(lanes)
      assert.deepEqual(late, [])
      await requireDead(gains)
      const { sessions, ...living } = await countLiving(person)
      assert.deepEqual(living, { families: 0, tokens: 0, delegations: 0, requests: 0, answers: 0 })
      assert.equal(sessions > 0, scope === 'identity', 'the session serves the other identity')
    }
  })

/** The row that a request locks, and a suspension too. */
type Locked = 'user_account' | 'identity'

/** Begins two requests about a user while a row of theirs is locked: the first one waits before the second begins. */
async function inOrder(
  { userId, identityId }: Person,
  locked: Locked,
  requests: [() => Promise<Answer>, () => Promise<Answer>],
) {
  const [column, id] = locked === 'identity' ? ['identity_id', identityId] : ['user_id', userId]
  const both = await world.db.transaction().execute(async (tx) => {
    const held = await sql`
      select from ${sql.table(locked)} where ${sql.ref(column)} = ${id}::uuid for update`.execute(tx)
    assert.equal(held.rows.length, 1)
    const first = requests[0]()
    await untilWaiting(world.db, 1)
    const second = requests[1]()
    await untilWaiting(world.db, 2)
    return { first, second }
  })
  return [await both.first, await both.second] as const
}

for (const [name, locked] of [
  ['sign in', 'user_account'],
  ['ask another device', 'user_account'],
  ['consent to an app', 'identity'],
  ['change the identity', 'identity'],
] as const)
  test(`PEO-01 in both orders of their locks, a suspension leaves nothing of a request to ${name}`, async () => {
    for (const isFaster of [true, false]) {
      const { person, kinds } = await prepare('account')
      const kind = new Map(Object.entries(kinds)).get(name)
      assert.ok(kind)
      const gains: Gains = { sessions: [], codes: [], access: [], refresh: [], delegated: [] }
      const ask = () => kind(world.api, gains)
      const suspend = () =>
        world.api.inject({
          method: 'POST',
          url: `/api/admin/identities/${person.identityId}/suspension`,
          headers: world.admin,
          payload: { reason: 'Left the company' },
        })
      const answers = await inOrder(person, locked, isFaster ? [ask, suspend] : [suspend, ask])
      const [requested, suspended] = isFaster ? answers : answers.toReversed()
      assert.equal(suspended?.statusCode, 200, suspended?.body)
      if (isShared) assert.equal((requested?.statusCode ?? 500) < 300, isFaster, requested?.body)
      await requireDead(gains)
      const dead = { sessions: 0, families: 0, tokens: 0, delegations: 0, requests: 0, answers: 0 }
      assert.deepEqual(await countLiving(person), dead)
    }
  })

/** What requests in progress gained is worthless afterwards. */
async function requireDead({ sessions, codes, access, refresh, delegated }: Gains): Promise<void> {
  const { source: app, target } = connectors
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  for (const token of sessions)
    assert.equal((await world.api.inject({ url: '/api/auth/session', headers: bearer(token) })).statusCode, 401)
  for (const code of codes) assert.equal((await app.redeem(code)).json().error, 'invalid_grant')
  for (const token of refresh) assert.equal((await app.refresh(token)).json().error, 'invalid_grant')
  for (const token of access)
    assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers: bearer(token) })).statusCode, 401)
  for (const token of delegated)
    assert.deepEqual((await connectors.introspect(target, token)).json(), { active: false })
}

/** Counts what an account could still use, of any row that the requests may have left. */
async function countLiving({ userId, identityId }: Person) {
  const { rows } = await sql<
    Record<'sessions' | 'families' | 'tokens' | 'delegations' | 'requests' | 'answers', number>
  >`
    select (select count(*)::integer from session where user_id = ${userId}) as sessions,
      (select count(*)::integer from signing_organization_signature where identity_id = ${identityId}) as answers,
      (select count(*)::integer from token_family where identity_id = ${identityId} and revoked_at is null) as families,
      (select count(*)::integer from token_access_token token where identity_id = ${identityId} and not exists (
        select from token_family family where family.identity_id = token.identity_id
          and family.family_id = token.family_id and revoked_at is not null)) as tokens,
      (select count(*)::integer from delegation_grant where identity_id = ${identityId} and revoked_at is null)
        as delegations,
      (select count(*)::integer from signing_request where identity_id = ${identityId} and status = 'pending')
        as requests`.execute(world.db)
  const [counted] = rows
  if (!counted) throw new Error('count returned no row')
  return counted
}
