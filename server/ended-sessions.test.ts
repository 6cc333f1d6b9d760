import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { createWorld, type Person, type World } from '#testing/world.ts'

/** Whose sessions end, and where: as a transaction begins, or when all else has been done in it. */
let ending: { userId: string; at: 'begin' | 'end' } | undefined

const isAt = {
  begin: (text: string) => text === 'begin',
  end: (text: string) => /"session".* for no key update$/.test(text),
}

function endAmidTransactions(pool: pg.Pool): pg.Pool {
  const changed = new WeakSet<pg.PoolClient>()
  pool.on('acquire', (client) => {
    if (changed.has(client)) return
    changed.add(client)
    const query: (...args: unknown[]) => unknown = client.query.bind(client)
    Object.assign(client, {
      query(...args: unknown[]) {
        const [statement] = args
        const text = typeof statement === 'string' ? statement : textOf(statement)
        if (ending === undefined || !isAt[ending.at](text)) return query(...args)
        const { userId } = ending
        ending = undefined
        return Promise.resolve(query('delete from session where user_id = $1', [userId])).then(() => query(...args))
      },
    })
  })
  return pool
}

function textOf(statement: unknown): string {
  return typeof statement === 'object' && statement !== null && 'text' in statement ? String(statement.text) : ''
}

let world: World
before(async () => {
  world = await createWorld({ between: endAmidTransactions, environment: { DEVELOPER_PORTAL: 'on' } })
})
after(() => world.close())

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Act = [Method, string, object?]

const app = { name: 'Ledger', redirectUris: ['https://ledger.example/callback'] }
const wraps = { keyWraps: [{ kind: 'recovery_code', ciphertext: 'a.b.c.d.e' }] }
const passkeyWrap = { kind: 'passkey_prf', credentialId: 'AAAA', ciphertext: 'a.b.c.d.e' }

/** What a person may change, by their session alone. */
const acts = (
  { identityId }: Person,
  owned: { clientId: string; organizationId: string; credentialId: string },
): Act[] => [
  ['PUT', '/api/account/recovery', { recoveryAuth: randomBytes(32).toString('base64url'), ciphertext: 'a.b.c.d.e' }],
  ['PUT', '/api/account/key-wraps', wraps],
  ['POST', '/api/account/key-wraps', passkeyWrap],
  ['POST', '/api/account/device-approvals', { commitment: randomBytes(32).toString('base64url') }],
  ['PATCH', `/api/auth/passkeys/${owned.credentialId}`, { name: 'Mine' }],
  ['DELETE', `/api/auth/passkeys/${owned.credentialId}`],
  ['POST', '/api/identities', { handle: `other-${randomBytes(6).toString('hex')}`, displayName: 'Other' }],
  ['PATCH', `/api/identities/${identityId}`, { displayName: 'Other' }],
  ['DELETE', `/api/identities/${identityId}/email`],
  ['DELETE', `/api/identities/${identityId}`],
  ['DELETE', '/api/account'],
  ['DELETE', `/api/oauth/authorizations/${randomUUID()}`],
  ['DELETE', `/api/oauth/delegations/${randomUUID()}`],
  ['POST', '/api/developer/apps', app],
  ['PATCH', `/api/developer/apps/${owned.clientId}`, { redirectUris: ['https://evil.example/callback'] }],
  ['POST', `/api/developer/apps/${owned.clientId}/secret`, {}],
  ['PUT', `/api/developer/apps/${owned.clientId}/webhook`, { url: 'http://localhost:9/hook' }],
  ['DELETE', `/api/developer/apps/${owned.clientId}/webhook`],
  ['DELETE', `/api/developer/apps/${owned.clientId}`],
  ['POST', '/api/organizations', { name: 'Acme', identityId }],
  ['PATCH', `/api/organizations/${owned.organizationId}`, { name: 'Other' }],
  ['POST', `/api/organizations/${owned.organizationId}/invitations`, { role: 'viewer', email: 'eve@example.com' }],
  ['POST', `/api/organizations/${owned.organizationId}/domains`, { domain: 'acme.example' }],
  ['DELETE', `/api/organizations/${owned.organizationId}`],
]

const ask = ([method, url, payload]: Act, headers: Record<string, string>) =>
  world[url.startsWith('/api/organizations') ? 'business' : 'api'].inject({
    method,
    url,
    headers,
    ...(payload && { payload }),
  })

for (const [at, when] of [
  ['begin', 'just before'],
  ['end', 'while that is done'],
] as const)
  test(`SES-16 what changes something by a session is not done where it ends ${when}`, async () => {
    const person = await world.person()
    const owned = await makeOwned(person)
    const done: string[] = []
    for (const act of acts(person, owned)) {
      const headers = await person.signIn()
      const [method, url] = act
      ending = { userId: person.userId, at }
      const answer = await ask(act, headers)
      const isRefusedBefore = at === 'end' && ending !== undefined && [404, 409].includes(answer.statusCode)
      if (ending !== undefined && !isRefusedBefore) done.push(`${method} ${url} has locked no session: ${answer.body}`)
      if (answer.statusCode !== 401 && !isRefusedBefore)
        done.push(`${method} ${url}: ${answer.statusCode} ${answer.body}`)
      ending = undefined
    }
    assert.deepEqual(done, [])
  })

/** What the acts are about: an app, an organization and a passkey of theirs. */
async function makeOwned(person: Person) {
  const registered = await ask(['POST', '/api/developer/apps', app], person.headers)
  const founded = await ask(
    ['POST', '/api/organizations', { name: 'Acme', identityId: person.identityId }],
    person.headers,
  )
  const listed = await world.api.inject({ url: '/api/auth/passkeys', headers: person.headers })
  return {
    clientId: registered.json<{ clientId: string }>().clientId,
    organizationId: founded.json<{ organization: { id: string } }>().organization.id,
    credentialId: listed.json<{ passkeys: { credentialId: string }[] }>().passkeys[0]?.credentialId ?? '',
  }
}
