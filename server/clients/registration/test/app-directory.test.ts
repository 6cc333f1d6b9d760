import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, type World } from '#testing/world.ts'
import { createAppDirectory } from '#clients/registration/app-directory.ts'
import { changeApp, createApp, deleteApp } from '#clients/registration/app.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const steward = { actor: 'operator' } as const
const settings = { name: 'An app', redirectUris: ['https://directory.example/callback', 'http://localhost:3000/'] }

test('an app is found with everything that a request needs of it', async () => {
  const apps = createAppDirectory(world.kernel)
  const { app } = await createApp(world.kernel, { steward, isPublic: false }, settings, world.now())
  assert.deepEqual(await apps.find(app.clientId), app)
  assert.equal(await apps.find('app_unknown'), undefined)
})

test('what another process changes is seen within five seconds, and what this one changes at once', async () => {
  const [here, there] = [createAppDirectory(world.kernel), createAppDirectory(world.kernel)]
  const { app } = await createApp(world.kernel, { steward, isPublic: false }, settings, world.now())
  const names = async () => [(await here.find(app.clientId))?.name, (await there.find(app.clientId))?.name]
  assert.deepEqual(await names(), ['An app', 'An app'])

  await changeApp(world.kernel, { steward, clientId: app.clientId }, { name: 'Renamed' }, world.now())
  here.forget(app.clientId)
  assert.deepEqual(await names(), ['Renamed', 'An app'])
  world.pass(5)
  assert.deepEqual(await names(), ['Renamed', 'Renamed'])

  await deleteApp(world.db, { steward, clientId: app.clientId }, world.now())
  here.forget(app.clientId)
  assert.deepEqual(await names(), [undefined, 'Renamed'])
  world.pass(5)
  assert.deepEqual(await names(), [undefined, undefined])
})

test('an origin counts as long as some app returns there', async () => {
  const apps = createAppDirectory(world.kernel)
  const origin = 'https://shared.example'
  const redirectUris = [`${origin}/callback`, 'com.example.app:/callback']
  assert.equal(await apps.hasRedirectOrigin(origin), false)

  const one = await createApp(world.kernel, { steward, isPublic: true }, { name: 'One', redirectUris }, world.now())
  const other = await createApp(world.kernel, { steward, isPublic: true }, { name: 'Other', redirectUris }, world.now())
  apps.forget(one.app.clientId)
  assert.equal(await apps.hasRedirectOrigin(origin), true)
  for (const stranger of ['http://shared.example', `${origin}:8443`, `${origin}.evil.example`, 'null', '', '\0'])
    assert.equal(await apps.hasRedirectOrigin(stranger), false, stranger)

  await deleteApp(world.db, { steward, clientId: one.app.clientId }, world.now())
  apps.forget(one.app.clientId)
  assert.equal(await apps.hasRedirectOrigin(origin), true)
  await changeApp(
    world.kernel,
    { steward, clientId: other.app.clientId },
    { redirectUris: ['https://moved.example/'] },
    world.now(),
  )
  apps.forget(other.app.clientId)
  assert.equal(await apps.hasRedirectOrigin(origin), false)
  assert.equal(await apps.hasRedirectOrigin('https://moved.example'), true)
})

test('LOD-08 what is remembered of an app holds no memory but its own', async () => {
  const apps = createAppDirectory(world.kernel)
  const { app } = await createApp(world.kernel, { steward, isPublic: false }, settings, world.now())
  const [secret] = (await apps.find(app.clientId))?.secretsSha256 ?? []
  assert.equal(secret?.buffer.byteLength, 32)
})
