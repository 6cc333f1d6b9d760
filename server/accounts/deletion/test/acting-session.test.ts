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
  const payload = { confirm: person.handle, reason: 'Left the company' }
  const answered: string[] = []
  const send = async (name: string, method: 'DELETE', url: string, headers: Record<string, string>, body?: object) => {
    const answer = await world.api.inject({ method, url, headers, ...(body && { payload: body }) })
    answered.push(`${name} ${answer.statusCode}`)
  }
  let signingOut: Promise<void> | undefined
  afterRehearsal = async () => {
    signingOut = send('sign-out', 'DELETE', '/api/auth/session', owner.headers)
    await untilWaiting(world.db, 1)
  }
  await send('deletion', 'DELETE', `/api/admin/identities/${person.identityId}`, owner.page, payload)
  await signingOut
  assert.deepEqual(answered, ['deletion 200', 'sign-out 204'])
})
