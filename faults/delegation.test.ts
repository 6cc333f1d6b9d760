import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { startService, type Service } from '../server/testing/service.ts'
import { registerApp, registerTestUser } from './load/test-user.ts'
import { exchange, textOf, type Reply } from './load/exchange.ts'
import { rounds } from './load/throughput.ts'

const takersAtOnce = 8
const races = rounds * 50

/** A user whose app may act at a resource; delegations are granted and revoked repeatedly. */
async function registerDelegator({ baseUrl, authUrl, admin }: Service) {
  const place = { baseUrl, authUrl, admin }
  const [source, target] = [await registerApp(place), await registerApp(place)]
  const resourceKey = `notes-${randomBytes(6).toString('hex')}`
  const json = { resourceKey, displayName: 'Notes', scopes: ['read'], audience: `https://${resourceKey}.example` }
  const resources = `${baseUrl}/api/admin/apps/${target.client_id}/resources`
  assert.equal((await exchange(resources, { method: 'POST', headers: admin, json }))?.status, 201)

  const { identityId, sessions, consent, redeem } = await registerTestUser(place, source)
  const headers = { authorization: `Bearer ${sessions.at(-1)}` }
  const family = await consent()
  const tokens = family && (await redeem(family))
  assert.ok(tokens)
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: textOf(tokens.body, 'access_token_jwt'),
    resource: resourceKey,
    ...source,
  }
  const requested = { clientId: source.client_id, redirectUri: 'https://app.example/callback', identityId }
  return {
    grant: () =>
      exchange(`${baseUrl}/api/oauth/authorize`, {
        method: 'POST',
        headers,
        json: { ...requested, connector: true, requestedResource: resourceKey, requestedScope: 'read' },
      }),
    take: () => exchange(`${baseUrl}/api/oauth/token`, { method: 'POST', form }),
    async find(): Promise<string> {
      const listed = await exchange(`${baseUrl}/api/oauth/delegations`, { headers })
      const [first] = Array.isArray(listed?.body['delegations']) ? listed.body['delegations'] : []
      return textOf({ ...first }, 'id')
    },
    revoke: (id: string) => exchange(`${baseUrl}/api/oauth/delegations/${id}`, { method: 'DELETE', headers }),
    introspect: (token: string) =>
      exchange(`${baseUrl}/api/oauth/introspect`, { method: 'POST', form: { ...target, token } }),
  }
}

test(`DEL-11 no token outlives any of ${races} revocations during ${takersAtOnce} token requests`, async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const { grant, take, find, revoke, introspect } = await registerDelegator(service)
  const issued: NonNullable<Reply>[] = []
  for (let race = 0; race < races; race += 1) {
    assert.equal((await grant())?.status, 200)
    const id = await find()
    let acknowledged = false
    const taken = Promise.withResolvers<void>()
    /** Requests tokens one after another, until one is rejected. */
    async function takeAll(): Promise<void> {
      for (;;) {
        const isLate = acknowledged
        const reply = await take()
        if (reply?.status === 403) return
        assert.ok(reply?.status === 200 && !isLate, JSON.stringify(reply))
        issued.push(reply)
        taken.resolve()
      }
    }
    const racing = Array.from({ length: takersAtOnce }, takeAll)
    await taken.promise
    const revoked = await revoke(id)
    acknowledged = true
    assert.equal(revoked?.status, 204)
    await Promise.all(racing)
    assert.equal((await take())?.status, 403)
  }
  for (const { body } of issued.slice(-200))
    assert.deepEqual((await introspect(textOf(body, 'access_token')))?.body, { active: false })
  t.diagnostic(`${issued.length} tokens were issued before`)
})
