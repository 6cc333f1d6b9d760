import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { PageView } from '@countersign/protocol/pages'
import { offerSetup } from '#accounts/operators/setup.ts'
import { register, startRegistration } from '#testing/registration.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

async function setMode(mode: 'open' | 'invited' | 'closed'): Promise<void> {
  const [url, headers] = ['/api/admin/settings', world.admin]
  const { revision } = (await world.api.inject({ url, headers })).json()
  const payload = { settings: { 'registration.mode': mode } }
  const conditional = { ...headers, 'if-match': `"${revision}"` }
  const changed = await world.api.inject({ method: 'PATCH', url, headers: conditional, payload })
  assert.equal(changed.statusCode, 200, changed.body)
}

async function newInvitation(): Promise<string> {
  const sent = { method: 'POST', url: '/api/admin/invitations', headers: world.admin } as const
  return (await world.api.inject({ ...sent, payload: { kind: 'link' } })).json<{ token: string }>().token
}

/** Returns what a page shows about registration. */
async function shownMode(path: string) {
  const { body } = await world.auth.inject({ url: path })
  const view: PageView = JSON.parse(/<script[^>]*id="view"[^>]*>([^<]*)</.exec(body)?.[1] ?? '{}')
  return view.site.registration
}

test('REG-02 only an invitation registers while the mode is invited, and nothing while it is closed', async () => {
  assert.equal((await register(world)).status, 201)
  await setMode('invited')
  const refused = await register(world)
  assert.deepEqual([refused.status, refused.error], [403, 'invitation_required'])
  const made = await register(world, { invitation: 'cs_inv_made-up' })
  assert.equal(made.error, 'invitation_expired')
  assert.equal((await register(world, { invitation: await newInvitation() })).status, 201)
  await setMode('closed')
  for (const admission of [{}, { invitation: await newInvitation() }]) {
    const closed = await register(world, admission)
    assert.deepEqual([closed.status, closed.error], [403, 'registration_closed'])
  }
  assert.deepEqual([await shownMode('/register'), await shownMode('/login')], ['closed', 'closed'])
  await setMode('open')
})

test('REG-02 a registration that began before the mode changed is decided at its end', async () => {
  const [one, two, guest] = [
    await startRegistration(world),
    await startRegistration(world),
    await startRegistration(world, { invitation: await newInvitation() }),
  ]
  await setMode('invited')
  assert.equal((await one.finish()).error, 'invitation_required')
  await setMode('closed')
  assert.equal((await two.finish()).error, 'registration_closed')
  assert.equal((await guest.finish()).error, 'registration_closed')
  const handles = await world.db.selectFrom('identity').select('handle').where('display_name', '=', 'A guest').execute()
  assert.equal(handles.length, 2)
  await setMode('open')
})

test('REG-02 the setup link registers the first operator in every mode, once', async () => {
  await setMode('closed')
  const link = await offerSetup(world.db, world.config, world.now())
  const setup = link?.url.split('#')[1] ?? ''
  assert.equal((await register(world, { setup: `${setup}x` })).error, 'setup_link_expired')
  assert.equal((await register(world, { setup })).status, 201)
  assert.equal((await register(world, { setup })).error, 'setup_done')
  await setMode('open')
})
