import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { createAppDirectory } from '#clients/registration/directory.ts'
import { updateApp, createApp, deleteApp } from '#clients/registration/app.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const manager = { actor: 'operator', kind: 'break_glass' } as const
const settings = { name: 'An app', redirectUris: ['https://directory.example/callback', 'http://localhost:3000/'] }

test('the directory finds an app with all settings that requests need', async () => {
  const apps = createAppDirectory(world.kernel)
  const { app } = await createApp(world.kernel, { manager, isPublic: false }, settings, world.now())
  assert.deepEqual(await apps.find(app.clientId), app)
  assert.equal(await apps.find(asId<ClientId>('app_unknown')), undefined)
})

test('changes by another process are visible within five seconds, own changes at once', async () => {
  const [here, there] = [createAppDirectory(world.kernel), createAppDirectory(world.kernel)]
  const { app } = await createApp(world.kernel, { manager, isPublic: false }, settings, world.now())
  const names = async () => [(await here.find(app.clientId))?.name, (await there.find(app.clientId))?.name]
  assert.deepEqual(await names(), ['An app', 'An app'])

  await updateApp(world.kernel, { manager, clientId: app.clientId }, { name: 'Renamed' }, world.now())
  here.forget(app.clientId)
  assert.deepEqual(await names(), ['Renamed', 'An app'])
  world.pass(5)
  assert.deepEqual(await names(), ['Renamed', 'Renamed'])

  await deleteApp(
    { db: world.db, lifecycle: world.services.lifecycle },
    { manager, clientId: app.clientId },
    world.now(),
  )
  here.forget(app.clientId)
  assert.deepEqual(await names(), [undefined, 'Renamed'])
  world.pass(5)
  assert.deepEqual(await names(), [undefined, undefined])
})

test('an origin is registered while any app has a redirect URI there', async () => {
  const apps = createAppDirectory(world.kernel)
  const origin = 'https://shared.example'
  const redirectUris = [`${origin}/callback`, 'com.example.app:/callback']
  assert.equal(await apps.hasRedirectOrigin(origin), false)

  const one = await createApp(world.kernel, { manager, isPublic: true }, { name: 'One', redirectUris }, world.now())
  const other = await createApp(world.kernel, { manager, isPublic: true }, { name: 'Other', redirectUris }, world.now())
  apps.forget(one.app.clientId)
  assert.equal(await apps.hasRedirectOrigin(origin), true)
  for (const stranger of ['http://shared.example', `${origin}:8443`, `${origin}.evil.example`, 'null', '', '\0'])
    assert.equal(await apps.hasRedirectOrigin(stranger), false, stranger)

  await deleteApp(
    { db: world.db, lifecycle: world.services.lifecycle },
    { manager, clientId: one.app.clientId },
    world.now(),
  )
  apps.forget(one.app.clientId)
  assert.equal(await apps.hasRedirectOrigin(origin), true)
  await updateApp(
    world.kernel,
    { manager, clientId: other.app.clientId },
    { redirectUris: ['https://moved.example/'] },
    world.now(),
  )
  apps.forget(other.app.clientId)
  assert.equal(await apps.hasRedirectOrigin(origin), false)
  assert.equal(await apps.hasRedirectOrigin('https://moved.example'), true)
})

test('LOD-08 a cached app holds no shared memory', async () => {
  const apps = createAppDirectory(world.kernel)
  const { app } = await createApp(world.kernel, { manager, isPublic: false }, settings, world.now())
  const [secret] = (await apps.find(app.clientId))?.secretsSha256 ?? []
  assert.equal(secret?.buffer.byteLength, 32)
})
