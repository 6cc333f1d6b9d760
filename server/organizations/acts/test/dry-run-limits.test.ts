import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import { actorOf } from '#testing/actor.ts'
import { startCustomerKms } from '#testing/customer-kms.ts'
import { openEnterprise } from '#testing/enterprise.ts'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { startSamlProvider } from '#testing/saml-provider.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

async function limitedWorld(t: TestContext, numbers: string): Promise<TestWorld> {
  const world = await createWorld({ rateLimits: true, environment: { RATE_LIMIT_NUMBERS: numbers } })
  t.after(() => world.close())
  return world
}

test('GRW-63 asking what to sign uses up no invitations, and is limited like other changes', async (t) => {
  // One session has half of each number, and a tenth more because its passkey was just used.
  const world = await limitedWorld(t, 'invitations-per-user=10,changes-per-user=100')
  const [owner, bob] = [await createSigner(world), await world.person()]
  const { id } = await createOrganization(world, owner)
  const actor = actorOf(world, owner)
  const path = `POST /organizations/${id}/invitations` as const
  const invitation = { handle: bob.handle, role: 'member' }
  const ask = () => businessRequest(world, owner, path, { ...invitation, signedAction: {} })
  for (let nth = 0; nth < 8; nth += 1) assert.equal((await ask()).json().error, 'signed_action_required')
  await actor.act(`PATCH /organizations/${id}`, { requireSignedActions: true })
  for (let nth = 0; nth < 8; nth += 1) {
    const started = await businessRequest(world, owner, path, invitation)
    assert.equal(started.json().error, 'signed_action_required')
  }
  const statuses: number[] = []
  for (let nth = 0; nth < 7; nth += 1) statuses.push((await actor.act(path, invitation)).statusCode)
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 429])
  let attempts = 0
  for (; (await ask()).statusCode !== 429; attempts += 1) assert.ok(attempts < 60, 'nothing limits the question')
  assert.ok(attempts > 10)
})

test('GRW-63 an owner who asks what a reset needs can still request it', async (t) => {
  const world = await limitedWorld(t, 'council-notices-per-user=10')
  const { id, owner, council } = await createSignatories(world, 1, 'signer')
  const path = `POST /organizations/${id}/council/reset` as const
  for (let nth = 0; nth < 8; nth += 1)
    assert.equal((await businessRequest(world, owner, path)).json().error, 'signed_action_required')
  await council.perform(owner, await council.start(owner, 'POST /council/reset'))
})

/** Each limit of an organization has three points, and starts of its acts have twelve. */
const numbersOfOrganization = [
  'domains-added-per-organization=3',
  'organization-keys-per-organization=3',
  'kms-changes-per-organization=3',
  'sso-connection-changes-per-organization=3',
  'act-starts-per-organization=12',
].join()

/** Opens an organization with these numbers. */
async function limitedOrganization(t: TestContext) {
  const environment = { RATE_LIMIT_NUMBERS: numbersOfOrganization }
  const { world, upstream, close } = await openEnterprise({ rateLimits: true, environment })
  t.after(close)
  const owner = await createSigner(world)
  const { id } = await createOrganization(world, owner)
  const { issuer, clientId, clientSecret } = upstream
  const send = (what: What, body?: object) => businessRequest(world, owner, what, body)
  return { path: `/organizations/${id}`, send, actor: actorOf(world, owner), oidc: { issuer, clientId, clientSecret } }
}

type What = `${'GET' | 'POST' | 'PUT' | 'PATCH'} ${string}`
type Limited = Awaited<ReturnType<typeof limitedOrganization>>
/** Requests of one kind. `counted`: how often the limit has counted before the first. */
type Changes = { counted: number; next: (nth: number) => Promise<[what: What, body: object]> }

const kinds: Record<string, (limited: Limited, t: TestContext) => Promise<Changes>> = {
  'adding a domain': async ({ path }) => ({
    counted: 0,
    next: async (nth) => [`POST ${path}/domains`, { domain: `d${nth}.example` }],
  }),
  'creating a key': async ({ path, send }) => ({
    counted: 0,
    async next() {
      const { keys } = (await send(`GET ${path}/keys`)).json<{ keys: OrganizationKey[] }>()
      return [`POST ${path}/keys`, keys[0] ? { replaces: keys[0].keyId } : {}]
    },
  }),
  async 'setting a KMS'({ path }, t) {
    const kms = await startCustomerKms()
    t.after(kms.close)
    return { counted: 0, next: async () => [`PUT ${path}/kms`, { url: kms.url }] }
  },
  'creating an SSO connection': async ({ path, oidc }) => ({
    counted: 0,
    next: async (nth) => [`POST ${path}/sso-connections`, { name: `Acme ${nth}`, oidc }],
  }),
  async 'changing the rules of an SSO connection'({ path, oidc, send }) {
    const { connection } = (await send(`POST ${path}/sso-connections`, { name: 'Acme', oidc })).json()
    const what = `PATCH ${path}/sso-connections/${connection.connectionId}` as const
    return { counted: 1, next: async () => [what, { groupRules: [] }] }
  },
  async 'creating a key for SAML'({ path, send }, t) {
    const idp = await startSamlProvider(() => new Date())
    t.after(() => idp.close())
    const saml = { metadata: await idp.metadata() }
    const { connection } = (await send(`POST ${path}/sso-connections`, { name: 'Acme', saml })).json()
    const what = `POST ${path}/sso-connections/${connection.connectionId}/encryption-key` as const
    return { counted: 1, next: async () => [what, {}] }
  },
}

for (const [kind, changesOf] of Object.entries(kinds))
  test(`GRW-63 asking what to sign for ${kind} uses up nothing that the change needs`, async (t) => {
    const limited = await limitedOrganization(t)
    const { path, send, actor } = limited
    const { counted, next } = await changesOf(limited, t)
    const ask = async (body: object) => {
      const [what, change] = await next(9)
      return (await send(what, { ...change, ...body })).json<{ error: string }>().error
    }
    for (let nth = 0; nth < 4; nth += 1) assert.equal(await ask({ signedAction: {} }), 'signed_action_required')
    await actor.act(`PATCH ${path}`, { requireSignedActions: true })
    for (let nth = 0; nth < 4; nth += 1) assert.equal(await ask({}), 'signed_action_required')
    const statuses: number[] = []
    for (let nth = counted; nth < 4; nth += 1) statuses.push((await actor.act(...(await next(nth)))).statusCode)
    assert.deepEqual(statuses, [...Array<number>(3 - counted).fill(200), 429])
    for (let nth = 0; nth < counted; nth += 1) assert.equal(await ask({}), 'signed_action_required')
    assert.equal(await ask({}), 'rate_limited')
  })
