import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Follower, followAudit } from '#testing/audit-follower.ts'
import { listenHere } from '#testing/held-request.ts'
import { createToken, makeOperator, suspend } from '#testing/operators.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let baseUrl = ''
before(async () => {
  world = await createWorld()
  baseUrl = `http://127.0.0.1:${await listenHere(world.api)}`
})
after(() => world.close())

async function newOperator(role: 'owner' | 'auditor' = 'auditor') {
  return makeOperator(world, await world.person(), role)
}

async function send(method: 'PATCH' | 'POST' | 'DELETE', url: string, payload?: object, headers = world.admin) {
  const answer = await world.api.inject({ method, url, headers, ...(payload && { payload }) })
  assert.ok(answer.statusCode < 300, answer.body)
}

/** A reader who is cut off by what `end` does, and the headers with which they read. */
type Case = { what: string; headers: Record<string, string>; end: () => Promise<void> }

async function openCases(): Promise<Case[]> {
  const [demoted, removed, suspended, signedOut] = [
    await newOperator(),
    await newOperator(),
    await newOperator(),
    await newOperator(),
  ]
  const maker = await newOperator('owner')
  await newOperator('owner')
  const revoked = await createToken(world, ['audit.read'])
  const ofMaker = await createToken(world, ['audit.read'], { headers: maker.page })
  const expiresAt = new Date(world.now().getTime() + 60_000).toISOString()
  const expiring = await createToken(world, ['audit.read'], { expiresAt })
  return [
    {
      what: 'a demoted operator',
      headers: demoted.page,
      end: () => send('PATCH', `/api/admin/operators/${demoted.identityId}`, { role: 'apps' }),
    },
    {
      what: 'a removed operator',
      headers: removed.page,
      end: () => send('DELETE', `/api/admin/operators/${removed.identityId}`),
    },
    { what: 'a suspended operator', headers: suspended.page, end: () => suspend(world, suspended) },
    {
      what: 'an operator who signed out',
      headers: signedOut.page,
      end: () => send('POST', `/api/admin/identities/${signedOut.identityId}/sign-out`, { scope: 'account' }),
    },
    {
      what: 'a revoked token',
      headers: revoked.headers,
      end: () => send('DELETE', `/api/admin/tokens/${revoked.tokenId}`),
    },
    {
      what: 'a token whose maker was demoted',
      headers: ofMaker.headers,
      end: () => send('PATCH', `/api/admin/operators/${maker.identityId}`, { role: 'apps', tokens: 'keep' }),
    },
    { what: 'an expired token', headers: expiring.headers, end: async () => world.pass(61) },
  ]
}

test('AUD-03 a reader who loses their rights is cut off within five seconds, and reads nothing later', async () => {
  const cases = await openCases()
  const readers: (Case & { follower: Follower })[] = []
  for (const each of cases) readers.push({ ...each, follower: await followAudit(baseUrl, each) })
  const remaining = await followAudit(baseUrl, { headers: world.admin })
  for (const { end } of readers) await end()
  using watch = startStopwatch()
  await Promise.all(readers.map(({ follower }) => follower.ended))
  const milliseconds = watch.milliseconds()
  assert.ok(milliseconds < 5000, `${milliseconds} ms`)

  const last = Math.max(...readers.flatMap(({ follower }) => follower.places()))
  await recordAuditEvent(world.db, { action: 'app.updated', actor: 'system' }, world.now())
  await remaining.until(() => Math.max(...remaining.places()) > last)
  for (const { what, headers, follower } of readers) {
    assert.equal(await follower.ended, 'complete', what)
    assert.ok(Math.max(0, ...follower.places()) <= last, what)
    const again = await fetch(`${baseUrl}/api/admin/audit/stream`, { headers })
    assert.ok([401, 403].includes(again.status), `${what}: ${again.status}`)
  }
  remaining.leave()
})

test('AUD-03 a page of another origin opens no stream with the cookie of an operator', async () => {
  const { page } = await newOperator()
  for (const origin of ['https://evil.example', 'null']) {
    const { status } = await fetch(`${baseUrl}/api/admin/audit/stream`, { headers: { ...page, origin } })
    assert.equal(status, 403)
  }
})
