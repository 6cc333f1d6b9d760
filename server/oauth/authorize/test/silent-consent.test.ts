import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Transaction, transaction } from '#platform/database/database.ts'
import { createConnectors, delegationsOf } from '#testing/connectors.ts'
import { exchange, openBrowser } from '#testing/federated-browser.ts'
import { isShared, untilWaiting } from '#testing/lock-waits.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Asking = () => Promise<Answer>
type Answer = { statusCode: number; body: string }

/**
 * Runs `disconnect` until it has deleted the consent and waits for the locked tokens, then `ask` as far as it gets;
 * then releases both.
 */
async function meeting({ identityId }: Person, disconnect: Asking, ask: Asking) {
  const both = await transaction(world.db, async (tx: Transaction) => {
    const held = tx.selectFrom('token_family').select('family_id').where('identity_id', '=', identityId)
    assert.equal((await held.forUpdate().execute()).length, 1)
    const disconnected = disconnect()
    await untilWaiting(world.db, 1)
    const requested = ask()
    await untilWaiting(world.db, 2)
    return { disconnected, requested }
  })
  return { gone: await both.disconnected, silent: await both.requested }
}

const connectedApps = async ({ headers }: Person) =>
  (await world.api.inject({ url: '/api/oauth/authorizations', headers })).json<{ authorizations: { id: string }[] }>()
    .authorizations

function consentSilently({ headers, identityId }: Person, { clientId, redirectUri }: TestApp): Promise<Answer> {
  const payload = { clientId, redirectUri, identityId, scope: 'openid', prompt: 'none' }
  return world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload })
}

test('AUZ-12 a silent request during a disconnection by the user does not reconnect the app', async () => {
  const [person, app] = [await world.person(), await world.app()]
  await app.tokens(person)
  const [authorization] = await connectedApps(person)
  const url = `/api/oauth/authorizations/${authorization?.id}`
  const disconnect = () => world.api.inject({ method: 'DELETE', url, headers: person.headers })
  const { gone, silent } = await meeting(person, disconnect, () => consentSilently(person, app))
  assert.equal(gone.statusCode, 204, gone.body)
  if (isShared) assert.match(silent.body, /consent_required/)
  assert.deepEqual(await connectedApps(person), [])
})

test('AUZ-12 FED-08 a FedCM sign-in during a disconnection by the app does not reconnect the app', async () => {
  const [person, app] = [await world.person(), await world.app()]
  await app.tokens(person)
  const browser = await openBrowser(world, person)
  const disconnect = () => browser.disconnect(app, person.identityId)
  const { gone, silent } = await meeting(person, disconnect, () => browser.assertion(app, { scope: 'openid' }))
  assert.equal(gone.statusCode, 200, gone.body)
  if (isShared) assert.equal(silent.statusCode, 403, silent.body)
  assert.deepEqual(await connectedApps(person), [])
  const token = /"token":"([^"]+)"/.exec(silent.body)?.[1] ?? 'none'
  assert.equal((await exchange(world, app, token)).json().error, 'invalid_grant')
})

test('AUZ-12 DEL-07 a silent request during a revocation does not grant the delegation again', async () => {
  const notes = await createConnectors(world)
  const { person } = await notes.connected()
  const silent = await transaction(world.db, async (tx) => {
    const granted = tx.updateTable('delegation_grant').set({ revoked_at: world.now() })
    await granted.where('identity_id', '=', person.identityId).execute()
    const requested = notes.consent(person, { prompt: 'none' })
    await untilWaiting(world.db, 1)
    return { requested }
  })
  const answer = await silent.requested
  assert.deepEqual([answer.statusCode, answer.json().error], [403, 'consent_required'])
  assert.ok(
    (await delegationsOf(world, person)).every(({ revokedAt }: { revokedAt: string | null }) => revokedAt !== null),
  )
})
