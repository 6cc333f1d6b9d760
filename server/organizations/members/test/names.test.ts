import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const hidden = ['Good\u200BBank', 'Bank\u{E0041}', 'Ba\uFFF9nk', `A${'\u0300'.repeat(70)}`]

test('NAM-03 names of apps, organizations and identities with hidden characters are rejected', async () => {
  const owner = await createSigner(world)
  const { id } = await createOrganization(world, owner)
  const { clientId } = await world.app()
  const asAdmin = { url: `/api/admin/apps/${clientId}`, method: 'PATCH', headers: world.admin } as const
  for (const name of hidden) {
    const answers = [
      await world.api.inject({ ...asAdmin, payload: { name } }),
      await world.api.inject({ ...asAdmin, payload: { description: name } }),
      await businessRequest(world, owner, `PATCH /organizations/${id}`, { name }),
      await world.api.inject({
        ...{ method: 'PATCH', url: `/api/identities/${owner.identityId}`, headers: owner.headers },
        payload: { displayName: name },
      }),
    ]
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [400, 400, 400, 400],
      JSON.stringify(name),
    )
  }
})

test('NAM-04 an existing name with hidden characters is returned as it is until it is changed', async () => {
  const name = 'Good\u200BBank'
  const app = await world.app()
  const { clientId } = app
  await world.db.updateTable('app').set({ name }).where('client_id', '=', clientId).execute()
  const asAdmin = { url: `/api/admin/apps/${clientId}`, headers: world.admin }
  const changed = await world.api.inject({ ...asAdmin, method: 'PATCH', payload: { description: 'A bank' } })
  assert.equal(changed.statusCode, 200)
  assert.equal((await world.api.inject(asAdmin)).json<{ name: string }>().name, name)
})
