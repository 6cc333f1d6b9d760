import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
before(async () => {
  world = await createWorld()
  app = await world.app({ supportsE2ee: true })
})
after(() => world.close())

const connected = async (ciphertext = 'first') => {
  const person = await world.person()
  await app.code(person, { encryptedAppKey: ciphertext })
  return person
}
const reseal = (
  { headers, identityId }: Pick<Person, 'headers' | 'identityId'>,
  change: object,
  { clientId }: Pick<TestApp, 'clientId'> = app,
) =>
  world.api.inject({
    method: 'PUT',
    url: `/api/oauth/authorization/${clientId}/app-key`,
    headers,
    payload: { identityId, encryptionMode: 'symmetric', replaces: 'first', ciphertext: 'second', ...change },
  })
const refused = async (answer: ReturnType<typeof reseal>) => {
  const { statusCode, ...rest } = await answer
  return [statusCode, rest.json().error]
}
const storedKey = async ({ headers, identityId }: Person) => {
  const url = `/api/oauth/authorization/${app.clientId}?identity_id=${identityId}`
  return (await world.api.inject({ url, headers })).json().authorization.encryptedAppKey
}

test('APK-07 an app key is stored again in place of exactly the one that the browser has read', async () => {
  const person = await connected()
  assert.equal((await reseal(person, {})).statusCode, 204)
  assert.equal(await storedKey(person), 'second')
  assert.deepEqual(await refused(reseal(person, { ciphertext: 'third' })), [409, 'app_key_changed'])
  assert.equal(await storedKey(person), 'second')
  const acts = await world.db.selectFrom('audit_event').select('action').where('user_id', '=', person.userId).execute()
  assert.equal(acts.filter(({ action }) => action === 'app_key.resealed').length, 1)
})

test('APK-07 of browsers that store a key again at the same time, one is first and the others learn it', async () => {
  const person = await connected()
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => reseal(person, { ciphertext: `browser ${index}` })),
  )
  const won = answers.flatMap(({ statusCode }, index) => (statusCode === 204 ? [`browser ${index}`] : []))
  assert.equal(won.length, 1)
  assert.equal(await storedKey(person), won[0])
  for (const { statusCode } of answers) assert.ok(statusCode === 204 || statusCode === 409)
})

test('APK-07 nobody else, and no other app or mode, changes a key', async () => {
  const person = await connected()
  const stranger = await world.person()
  const { headers } = stranger
  const other = await world.app({ supportsE2ee: true })
  assert.deepEqual(await refused(reseal({ headers, identityId: person.identityId }, {})), [404, 'identity_not_found'])
  assert.deepEqual(await refused(reseal(stranger, {})), [409, 'app_key_changed'])
  assert.deepEqual(await refused(reseal(person, {}, other)), [409, 'app_key_changed'])
  assert.deepEqual(await refused(reseal(person, { encryptionMode: 'asymmetric' })), [409, 'app_key_changed'])
  assert.deepEqual(await refused(reseal(person, { ciphertext: '' })), [400, 'invalid_request'])
  assert.deepEqual(await refused(reseal(person, { ciphertext: 'a'.repeat(16 * 1024 + 1) })), [400, 'invalid_request'])
  assert.deepEqual(await refused(reseal({ ...person, headers: { authorization: 'Bearer x' } }, {})), [
    401,
    'unauthorized',
  ])
  assert.equal(await storedKey(person), 'first')
})

test('APK-07 a session that the user has not used their passkey for recently changes no key', async () => {
  const person = await connected()
  world.pass(301)
  assert.deepEqual(await refused(reseal(person, {})), [403, 'reauthentication_required'])
  assert.equal(await storedKey(person), 'first')
})
