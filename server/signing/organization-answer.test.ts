import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { KyselyPlugin } from 'kysely'
import { makeOrganization } from '#testing/organization.ts'
import { askerOf, createSigner } from '#testing/signer.ts'
import { createWorld, type World } from '#testing/world.ts'
import { listPendingOfOrganizations } from './organization-answer.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** The requests that wait for a person as a member of organizations, and how many statements it takes to list them. */
async function list(userId: string) {
  let statements = 0
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      statements += 1
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const at = world.now()
  const session = { sessionId: randomUUID(), userId, identityId: null, authTime: at, expiresAt: at }
  const db = world.db.withPlugin(counting)
  const requests = await listPendingOfOrganizations(db, { ...session, authMethod: 'passkey' }, at)
  return { requests, statements }
}

test('what waits for two organizations is listed by as few statements as what waits for one', async () => {
  const shop = askerOf(world, await world.app({ name: 'Shop' }))
  const ada = await createSigner(world)
  const [acme, bolt] = [await makeOrganization(world, ada), await makeOrganization(world, ada, 'Bolt')]
  await shop.requestOf(acme.id)
  const one = await list(ada.userId)
  for (const { id } of [acme, bolt, bolt]) await shop.requestOf(id)
  const four = await list(ada.userId)

  const names = ({ requests }: typeof one) => requests.map(({ organization }) => organization?.name).toSorted()
  assert.deepEqual(names(one), ['Acme'])
  assert.deepEqual(names(four), ['Acme', 'Acme', 'Bolt', 'Bolt'])
  assert.equal(four.statements, one.statements)
})
