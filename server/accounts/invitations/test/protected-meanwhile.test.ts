import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { replaceQueries, textOf } from '#testing/interruption.ts'
import { makeOperator } from '#testing/operators.ts'
import { register } from '#testing/registration.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
/** Statement that another process has committed just before the next group is locked. */
let interruption: string | undefined
before(async () => {
  world = await createWorld({ between: interrupt })
})
after(() => world.close())

const interrupt = replaceQueries((query, args) => {
  const statement = interruption
  if (statement === undefined || !/"user_group".* for no key update/.test(textOf(args[0]))) return query(...args)
  interruption = undefined
  return Promise.resolve(query(statement)).then(() => query(...args))
})

test('REG-09 no one joins a group that becomes protected while they accept an invitation into it', async () => {
  const people = await makeOperator(world, await world.person(), 'people')
  const create = async (url: string, payload: object) =>
    (await world.api.inject({ method: 'POST', url, headers: people.page, payload })).json()
  const { groupId } = await create('/api/admin/groups', { key: 'inner', displayName: 'Inner' })
  const { token } = await create('/api/admin/invitations', { kind: 'link', groups: ['inner'] })
  interruption = `update user_group set protected = true where group_id = '${groupId}'`
  const refused = await register(world, { invitation: token })
  assert.equal(interruption, undefined)
  assert.deepEqual([refused.status, refused.error], [410, 'invitation_expired'])
  const members = await world.api.inject({ url: `/api/admin/groups/${groupId}/members`, headers: world.admin })
  assert.deepEqual(members.json().members, [])
})
