import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { answerOf, approverOf } from '#testing/approver.ts'
import { replaceQueries, textOf } from '#testing/interruption.ts'
import { createSigner, signingRequesterOf } from '#testing/signer.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
/** Statement that another process has committed just before the next transaction begins. */
let interruption: string | undefined
before(async () => {
  world = await createWorld({ between: interrupt })
  app = await world.app({ name: 'Shop' })
})
after(() => world.close())

const interrupt = replaceQueries((query, args) => {
  const statement = interruption
  if (statement === undefined || textOf(args[0]) !== 'begin') return query(...args)
  interruption = undefined
  return Promise.resolve(query(statement)).then(() => query(...args))
})

test('SGN-49 what changes between the verification of an approval and its record is not approved', async () => {
  const shop = signingRequesterOf(world, app)
  const where = `where client_id = '${app.clientId}'`
  for (const [statement, code] of [
    [`update app set name = 'Bank' ${where}`, 'approval_changed'],
    [`update app set redirect_uris = '{https://elsewhere.example/}' ${where}`, 'approval_changed'],
    [`update app set status = 'disabled' ${where}`, 'app_disabled'],
  ] as const) {
    const ada = await createSigner(world)
    const { requestId } = (await shop.request(ada.identityId)).json()
    const approver = approverOf(world, ada)
    const body = answerOf(ada, await approver.begin(requestId))
    interruption = statement
    const answer = await approver.send(requestId, body)
    assert.equal(interruption, undefined)
    assert.deepEqual([answer.statusCode, answer.json().error], [409, code], statement)
    assert.equal((await shop.status(requestId)).json().status, 'pending')
    interruption = undefined
  }
})
