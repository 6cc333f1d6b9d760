import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { replaceQueries, textOf } from '#testing/interruption.ts'
import { untilWaiting } from '#testing/lock-waits.ts'
import { makeOperator } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

/** Runs once, when the rehearsal of a deletion has ended. */
let afterRehearsal: (() => Promise<void>) | undefined
const between = replaceQueries(async (query, args) => {
  const result = await query(...args)
  if (!afterRehearsal || !/^\s*rollback to savepoint rehearsal/.test(textOf(args[0]))) return result
  const run = afterRehearsal
  afterRehearsal = undefined
  await run()
  return result
})

let world: TestWorld
before(async () => {
  world = await createWorld({ between })
})
after(() => world.close())

test('SES-16 an operator who signs out while they schedule a deletion is signed out after it', async () => {
  const owner = await makeOperator(world, await world.person(), 'owner')
  const person = await world.person()
  const answered: string[] = []
  const remove = async (url: string, headers: Record<string, string>, payload?: object) => {
    const answer = await world.api.inject({ method: 'DELETE', url, headers, ...(payload && { payload }) })
    answered.push(`${url} ${answer.statusCode}`)
  }
  const [session, identity] = ['/api/auth/session', `/api/admin/identities/${person.identityId}`]
  let signingOut: Promise<void> | undefined
  afterRehearsal = async () => {
    signingOut = remove(session, owner.headers)
    await untilWaiting(world.db, 1)
  }
  await remove(identity, owner.page, { confirm: person.handle, reason: 'Left the company' })
  await signingOut
  assert.deepEqual(answered, [`${identity} 200`, `${session} 204`])
})
