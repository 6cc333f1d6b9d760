import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Group } from '@countersign/protocol/accounts/groups'
import { pruneDeletedGroups } from '#accounts/groups/group.ts'
import { countDeadlocks } from '#testing/deadlocks.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const deadlocks = countDeadlocks()
let world: TestWorld
before(async () => {
  world = await createWorld({ between: deadlocks.between })
})
after(() => world.close())

test('GRP-05 the cleanup of deleted groups and the deletion of members do not wait for each other', async () => {
  const send = async (method: 'POST' | 'DELETE', path: string, payload?: object) => {
    const url = `/api/admin/groups${path}`
    const answer = await world.api.inject({ method, url, headers: world.admin, ...(payload && { payload }) })
    assert.ok(answer.statusCode < 300, answer.body)
    return answer
  }
  for (let round = 0; round < 3; round += 1) {
    const people = await Promise.all(Array.from({ length: 12 }, () => world.person()))
    for (const key of ['sales', 'support']) {
      const { groupId } = (await send('POST', '', { key, displayName: key })).json<Group>()
      await send('POST', `/${groupId}/members/batch`, { add: people.map(({ identityId }) => identityId) })
      await send('DELETE', `/${groupId}`)
    }
    deadlocks.setDistance(2)
    const cleanup = async () => {
      while ((await pruneDeletedGroups(world.db, world.now(), 1)) > 0);
    }
    const leaving = people.map(({ headers }) => world.api.inject({ method: 'DELETE', url: '/api/account', headers }))
    const [, ...left] = await Promise.all([cleanup(), ...leaving])
    deadlocks.setDistance(0)
    assert.deepEqual(
      left.map(({ statusCode }) => statusCode),
      people.map(() => 204),
    )
  }
  assert.equal(deadlocks.count(), 0)
})
