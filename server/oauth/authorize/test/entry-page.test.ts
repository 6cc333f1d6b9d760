import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

async function appOn(path: string): Promise<unknown> {
  const { body, statusCode } = await world.auth.inject({ url: path })
  assert.equal(statusCode, 200, body)
  const view = /<script type="application\/json" id="view">(.*)<\/script>/.exec(body)?.[1] ?? ''
  return JSON.parse(view).app
}

test('the pages before a sign-in name the app to which the user continues', async () => {
  const app = await world.app({ name: 'Letters & Ledgers' })
  const request = encodeURIComponent(`/signin?client_id=${app.clientId}&redirect_uri=https%3A%2F%2Fx.example`)
  const expected = { clientId: app.clientId, name: 'Letters & Ledgers', iconUrl: null }
  for (const page of ['register', 'login', 'recover'])
    assert.deepEqual(await appOn(`/${page}?return=${request}`), expected, page)
})

test('SGN-65 only its host names an unregistered app before a sign-in, and other sites name no app', async () => {
  const { clientId } = await world.app({ name: 'Letters & Ledgers' })
  const hostile = [
    `https://attacker.example/signin?client_id=${clientId}`,
    `//attacker.example/signin?client_id=${clientId}`,
    `/account?client_id=${clientId}`,
    `/signin?client_id=app_nobody`,
    `/signin?client_id=${clientId}&client_id=app_other`,
    'not a URL',
    '',
  ]
  for (const returnTo of hostile)
    assert.equal(await appOn(`/login?return=${encodeURIComponent(returnTo)}`), undefined, returnTo)
  const twice = encodeURIComponent(`/signin?client_id=${clientId}`)
  assert.equal(await appOn(`/login?return=${twice}&return=${twice}`), undefined)
  const unregistered = encodeURIComponent('/signin?client_id=https%3A%2F%2Fnotes.example%2Fclient.json')
  assert.deepEqual(await appOn(`/login?return=${unregistered}`), { name: 'notes.example', iconUrl: null })
})
