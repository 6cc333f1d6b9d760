import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { AccountExport } from '@countersign/protocol/accounts/account'
import { flowOf, linkAs, newClaims, openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { join } from '#testing/organization.ts'

/** Deadlocks that the database has ended. A transaction that loses one is repeated, so that no answer shows it. */
let deadlocks = 0
/** Milliseconds before each statement of a transaction, like a database that is far away. */
let distance = 0
const isDeadlock = (error: unknown) => error instanceof pg.DatabaseError && error.code === '40P01'

function between(pool: pg.Pool): pg.Pool {
  const seen = new WeakSet<pg.PoolClient>()
  pool.on('acquire', (client) => {
    if (seen.has(client)) return
    seen.add(client)
    const query: (...values: unknown[]) => unknown = client.query.bind(client)
    const delayed = async (...values: unknown[]) => {
      if (distance > 0) await pause(distance)
      try {
        return await query(...values)
      } catch (error) {
        if (isDeadlock(error)) deadlocks += 1
        throw error
      }
    }
    // Statements with a callback and cursors are not those of a transaction.
    const isPlain = (values: unknown[]) => values.every((value) => typeof value !== 'function')
    Object.assign(client, {
      query: (...values: unknown[]) => (isPlain(values) ? delayed(...values) : query(...values)),
    })
  })
  return pool
}

let enterprise: Enterprise
before(async () => {
  enterprise = await openEnterprise({ between })
})
after(() => enterprise.close())

test('SES-17 sign-ins by SSO and the deletion of the account do not wait for each other', async () => {
  const { world } = enterprise
  const owner = await world.person()
  const organization = await enterprise.organization(owner)
  await enterprise.verifyDomain(organization, 'acme.example')
  const { connectionId } = await enterprise.connect(organization)
  await enterprise.confirm(organization, connectionId)
  for (let round = 0; round < 3; round += 1) {
    const [person, claims, browser] = [await world.person(), newClaims(), enterprise.browser()]
    await join(world, { id: organization.organizationId, owner, role: 'member' }, person)
    browser.bring(person)
    const linked = await linkAs(browser, flowOf(await browser.signIn(connectionId, claims)), person.identityId)
    assert.equal(linked.statusCode, 200, linked.body)
    const exported = await world.api.inject({ url: '/api/account/export', headers: person.headers })
    assert.deepEqual(
      exported
        .json<AccountExport>()
        .identities[0]?.ssoLinks.map((link) => [link.connectionId, link.organizationId, link.subject]),
      [[connectionId, organization.organizationId, claims.sub]],
    )
    distance = 2
    const deletion = new AbortController()
    const signIns = Array.from({ length: 3 }, async () => {
      while (!deletion.signal.aborted)
        assert.notEqual((await enterprise.browser().signIn(connectionId, claims)).statusCode, 503)
    })
    const request = { method: 'DELETE', url: '/api/account', headers: person.headers } as const
    const deleted = await world.api.inject(request)
    deletion.abort()
    await Promise.all(signIns)
    distance = 0
    assert.equal(deleted.statusCode, 204, deleted.body)
  }
  assert.equal(deadlocks, 0)
})
