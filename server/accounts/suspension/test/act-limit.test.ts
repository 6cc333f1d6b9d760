import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createToken } from '#testing/operators.ts'
import { createWorld } from '#testing/world.ts'

test('SUS-06 an operator acts on at most 60 identities a minute, by all acts together', async (t) => {
  const world = await createWorld({ rateLimits: true })
  t.after(() => world.close())
  const person = await world.person()
  const [first, second] = [
    await createToken(world, ['people.suspend', 'people.delete']),
    await createToken(world, ['people.suspend']),
  ]
  const root = `/api/admin/identities/${person.identityId}`
  const reason = 'Left the company'
  const acts = [
    { method: 'POST', url: `${root}/sign-out`, payload: {} },
    { method: 'POST', url: `${root}/suspension`, payload: { reason } },
    { method: 'DELETE', url: `${root}/suspension` },
    { method: 'DELETE', url: root, payload: { confirm: person.handle, reason } },
    { method: 'POST', url: `${root}/restore` },
  ] as const
  for (let nth = 0; nth < 60; nth += 1) {
    const act = acts[nth % acts.length]
    if (!act) throw new Error('no act')
    const done = await world.api.inject({ ...act, headers: first.headers })
    assert.ok(done.statusCode < 300, `${act.method} ${act.url}: ${done.body}`)
  }
  for (const act of acts) {
    const refused = await world.api.inject({ ...act, headers: first.headers })
    assert.deepEqual([refused.statusCode, refused.json().error], [429, 'rate_limited'], `${act.method} ${act.url}`)
  }
  const [signOut] = acts
  assert.equal((await world.api.inject({ ...signOut, headers: second.headers })).statusCode, 204)
  world.pass(61)
  assert.equal((await world.api.inject({ ...signOut, headers: first.headers })).statusCode, 204)
})
