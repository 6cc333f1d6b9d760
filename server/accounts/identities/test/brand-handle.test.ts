import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newHandle, openInvited } from '#testing/invited.ts'
import { register } from '#testing/registration.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Method = 'GET' | 'POST' | 'PATCH'
type Headers = Record<string, string>

const send = (method: Method, url: string, headers: Headers = {}, payload?: object) =>
  world.api.inject({ method, url, headers, ...(payload && { payload }) })
const rename = ({ identityId, headers }: Pick<Person, 'identityId' | 'headers'>, handle: string) =>
  send('PATCH', `/api/identities/${identityId}`, headers, { handle })
const resultOf = (answer: { statusCode: number; json: () => { error?: string } }) => [
  answer.statusCode,
  answer.json().error,
]

/** Names the service by the settings of the database. */
async function brandAs(name: string): Promise<void> {
  const { revision } = (await send('GET', '/api/admin/settings', world.admin)).json()
  const headers = { ...world.admin, 'if-match': `"${revision}"` }
  const changed = await send('PATCH', '/api/admin/settings', headers, { settings: { 'branding.name': name } })
  assert.equal(changed.statusCode, 200, changed.body)
}

test('HND-01 no user takes the name of the service as a username, in any spelling', async () => {
  const person = await world.person()
  await brandAs('Ácme & Söhne')
  for (const handle of ['acmesohne', 'Acme.Sohne', 'acme_s-ohne']) {
    const names = { handle, displayName: 'Someone' }
    const answers = [
      await send('POST', '/api/auth/register/start', {}, names),
      await send('POST', '/api/identities', person.headers, names),
      await rename(person, handle),
    ]
    for (const answer of answers) assert.deepEqual(resultOf(answer), [400, 'invalid_handle'], handle)
    const lookup = await send('POST', '/api/auth/register/available', {}, { handle })
    assert.deepEqual(lookup.json(), { available: false })
  }
  assert.equal((await rename(person, 'acme-sohne-fan')).statusCode, 200)
})

test('HND-01 a name of the service without Latin letters or digits reserves nothing', async () => {
  await brandAs('サービス')
  assert.equal((await rename(await world.person(), newHandle())).statusCode, 200)
})

test('HND-01 an identity that has the name of the service before the service has it keeps it', async () => {
  await brandAs('Example')
  const person = await world.person('globex')
  await brandAs('Globex')
  assert.equal((await rename(person, 'Globex')).json().handle, 'Globex')
  assert.equal((await rename(person, 'globex-jane')).statusCode, 200)
  assert.equal((await rename(person, 'globex')).statusCode, 200, 'it is still theirs')
  assert.deepEqual(resultOf(await rename(await world.person(), 'glob.ex')), [400, 'invalid_handle'])
})

test('HND-01 an operator gives the name of the service to an identity', async () => {
  await brandAs('Initech')
  const { add, acceptFurther } = openInvited(world)
  const invited = await add({ handle: 'initech' })
  const registered = await register(world, { invitation: invited.token }, invited.names)
  assert.equal(registered.error ?? registered.status, 201)

  await brandAs('Umbrella')
  const further = await add({ handle: 'umbrella' })
  const accepted = await acceptFurther(await world.person(), further.token, further.names)
  assert.equal(accepted.error ?? accepted.status, 201)
  const { token } = (await send('POST', '/api/admin/invitations', world.admin, { kind: 'link' })).json()
  const other = { handle: 'um-brella', displayName: 'Someone' }
  assert.equal((await acceptFurther(await world.person(), token, other)).error, 'invalid_handle')
})
