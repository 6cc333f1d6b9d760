import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import type { Service } from '../server/testing/service.ts'
import { reopenStorage } from '../server/testing/database.ts'
import { startWithUsers } from './load/test-user.ts'
import { exchange, textOf } from './load/exchange.ts'

/** Time between the start of the service and the activation of the keys. */
const leadMilliseconds = 5000
/** The least number of refreshes of each user after the activation. */
const refreshesAfter = 5

test('JWT-13 while running processes rotate their keys, all old and new signatures verify', async (t) => {
  const { service, customers } = await startWithUsers(t, 4, { RATE_LIMITS: 'off', WORKERS: '2' })
  const rotate = { method: 'POST', headers: service.admin } as const
  assert.equal((await exchange(`${service.baseUrl}/api/admin/keys/rotate`, rotate))?.status, 201)
  const activatesAt = await hasten(service)

  /** A relying party that fetches the key set once, and caches it. */
  const keySet = createRemoteJWKSet(new URL(`${service.authUrl}/.well-known/jwks.json`), {
    cooldownDuration: Infinity,
    cacheMaxAge: Infinity,
  })
  const kids = { before: new Set<string>(), after: new Set<string>() }
  const accessJwts: string[] = []
  const turns = customers.map(async (customer) => {
    const family = customer.families.at(-1)
    assert.ok(family)
    // Each sends some requests after the activation, also if this process has not run at that time.
    for (let sentAfter = 0; sentAfter < refreshesAfter || Date.now() < activatesAt + 2000;) {
      const sentAt = Date.now()
      if (sentAt > activatesAt) sentAfter += 1
      const reply = await customer.refresh(family, family.live ?? '')
      assert.equal(reply?.status, 200)
      const [idToken, accessJwt] = [textOf(reply.body, 'id_token'), textOf(reply.body, 'access_token_jwt')]
      accessJwts.push(accessJwt)
      for (const jwt of [idToken, accessJwt]) {
        await jwtVerify(jwt, keySet, { issuer: service.authUrl })
        const { kid = '' } = decodeProtectedHeader(jwt)
        if (Date.now() < activatesAt) kids.before.add(kid)
        if (sentAt > activatesAt) kids.after.add(kid)
      }
      const previous = accessJwts[Math.floor(Math.random() * accessJwts.length)] ?? ''
      const headers = { authorization: `Bearer ${previous}` }
      assert.equal((await exchange(`${service.baseUrl}/api/oauth/userinfo`, { headers }))?.status, 200)
    }
  })
  await Promise.all(turns)
  t.diagnostic(`${2 * accessJwts.length} tokens verified`)
  assert.deepEqual([kids.before.size, kids.after.size], [2, 2])
  assert.ok(kids.before.isDisjointFrom(kids.after), 'the keys changed during the test')
})

/** Lets the pending keys sign in a moment instead of hours; returns the time. A start here takes part of it. */
async function hasten(service: Service): Promise<number> {
  await service.end()
  const startMilliseconds = await startOf(service)
  await service.end()
  const { DATABASE_URL, DATA_DIR } = service.settings
  const { db, close } = await reopenStorage(DATABASE_URL, DATA_DIR)
  const now = new Date()
  // A machine that becomes busy meanwhile may take twice as long.
  const activatesAt = new Date(now.getTime() + 2 * startMilliseconds + leadMilliseconds)
  const { numUpdatedRows } = await db
    .updateTable('token_signing_key')
    .set({ activates_at: activatesAt })
    .where('activates_at', '>', now)
    .executeTakeFirstOrThrow()
  assert.equal(numUpdatedRows, 3n)
  await close()
  await startOf(service)
  return activatesAt.getTime()
}

/** Starts the service again; returns how many milliseconds that took. */
async function startOf(service: Service): Promise<number> {
  const startedAt = performance.now()
  await service.restart()
  return Math.round(performance.now() - startedAt)
}
