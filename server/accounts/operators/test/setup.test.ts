import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { offerSetup } from '#accounts/operators/setup.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import { asPage, makeOperator } from '#testing/operators.ts'
import { register, startRegistration } from '#testing/registration.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

/** Runs a test in a service of its own: the first operator ends the setup for good. */
async function inNewService(work: (world: TestWorld) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'setup-'))
  const world = await createWorld({ environment: { DATA_DIR: directory } })
  try {
    await work(world)
  } finally {
    await world.close()
    await rm(directory, { recursive: true })
  }
}

/** Starts a process of the service. Returns the secret of its setup link. */
async function offered(world: TestWorld): Promise<string> {
  const link = await offerSetup(world.db, world.config, world.now())
  assert.ok(link)
  const [address = '', secret = ''] = link.url.split('#')
  assert.equal(address, `${world.config.authUrl.origin}/setup`)
  return secret
}

const operatorsOf = async (world: TestWorld) =>
  (await world.api.inject({ url: '/api/admin/operators', headers: world.admin })).json().operators

async function check(world: TestWorld, setup: string) {
  const answer = await world.api.inject({ method: 'POST', url: '/api/setup/check', payload: { setup } })
  return answer.statusCode === 204 ? 'usable' : answer.json<{ error: string }>().error
}

test('REG-06 who opens the setup link registers as the owner, and the link is then of no use', () =>
  inNewService(async (world) => {
    const { url: address = '', path = '' } = (await offerSetup(world.db, world.config, world.now())) ?? {}
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.equal(await readFile(path, 'utf8'), `${address}\n`)
    const setup = address.split('#')[1] ?? ''
    assert.equal(await check(world, setup), 'usable')

    const owner = await register(world, { setup })
    assert.equal(owner.error ?? owner.status, 201)
    assert.deepEqual(
      (await operatorsOf(world)).map(({ identityId, role }: Record<string, string>) => [identityId, role]),
      [[owner.identity?.identityId, 'owner']],
    )
    const url = '/api/admin/identities'
    assert.equal((await world.api.inject({ url, headers: asPage(world, owner.sessionToken) })).statusCode, 200)

    assert.equal(await check(world, setup), 'setup_done')
    const late = await register(world, { setup })
    assert.deepEqual([late.status, late.error], [409, 'setup_done'])
    assert.equal(await offerSetup(world.db, world.config, world.now()), undefined)
    await assert.rejects(stat(path), 'the next start removes the file')
  }))

test('REG-06 a signed-in user becomes the owner as one of their own identities, after using a passkey', () =>
  inNewService(async (world) => {
    const setup = await offered(world)
    const [person, other] = [await world.person(), await world.person()]
    const become = async ({ headers }: { headers: Record<string, string> }, identityId: string) => {
      const payload = { setup, identityId }
      const answer = await world.api.inject({ method: 'POST', url: '/api/setup', headers, payload })
      return answer.statusCode === 204 ? 'owner' : answer.json<{ error: string }>().error
    }
    assert.equal(await become({ headers: {} }, person.identityId), 'unauthorized')
    assert.equal(await become(person, other.identityId), 'identity_not_found')
    world.pass(301)
    assert.equal(await become(person, person.identityId), 'reauthentication_required')
    assert.equal(await become({ headers: await person.signIn() }, person.identityId), 'owner')
    assert.equal(await become({ headers: await other.signIn() }, other.identityId), 'setup_done')
    assert.deepEqual(
      (await operatorsOf(world)).map(({ identityId }: { identityId: string }) => identityId),
      [person.identityId],
    )
  }))

test('REG-06 a wrong or expired link makes nobody an owner, and no account', () =>
  inNewService(async (world) => {
    const setup = await offered(world)
    const begun = await startRegistration(world, { setup })
    const wrong = generateToken('setup')
    for (const secret of [wrong, 'cs_setup_', `${setup}x`]) {
      assert.equal(await check(world, secret), 'setup_link_expired')
      const refused = await begun.finish({ setup: secret })
      assert.notEqual(refused.status, 201)
    }
    world.pass(24 * 3600)
    assert.equal(await check(world, setup), 'setup_link_expired')
    const late = await register(world, { setup })
    assert.deepEqual([late.status, late.error], [410, 'setup_link_expired'])
    assert.deepEqual(await operatorsOf(world), [])
    const users = await world.db.selectFrom('user_account').select('user_id').execute()
    assert.deepEqual(users, [])
  }))

test('REG-04 of many setups at once, by one link or by those of several processes, one makes an owner', () =>
  inNewService(async (world) => {
    const links = [await offered(world), await offered(world), await offered(world)]
    const begun = await Promise.all(
      Array.from({ length: 6 }, (_, index) => startRegistration(world, { setup: links[index % links.length] ?? '' })),
    )
    const results = await Promise.all(begun.map((each) => each.finish()))
    assert.deepEqual(results.map(({ status, error }) => error ?? status).toSorted(), [
      201,
      ...Array.from({ length: 5 }, () => 'setup_done'),
    ])
    assert.equal((await operatorsOf(world)).length, 1)
  }))

test('REG-06 the first operator ends all links, however they were added, also if they leave', () =>
  inNewService(async (world) => {
    const setup = await offered(world)
    const auditor = await makeOperator(world, await world.person(), 'auditor')
    assert.equal(await check(world, setup), 'setup_done')
    const url = `/api/admin/operators/${auditor.identityId}`
    assert.equal((await world.api.inject({ method: 'DELETE', url, headers: world.admin })).statusCode, 204)
    assert.deepEqual(await operatorsOf(world), [])
    assert.equal(await check(world, setup), 'setup_link_expired')
    assert.equal((await register(world, { setup })).error, 'setup_link_expired')
  }))

test('REG-06 the secret of the link is stored nowhere, neither in a table nor in the audit log', () =>
  inNewService(async (world) => {
    const setup = await offered(world)
    const before = JSON.stringify(await world.db.selectFrom('setup_link').selectAll().execute())
    assert.equal((await register(world, { setup })).status, 201)
    const audit = await world.api.inject({ url: '/api/admin/audit', headers: world.admin })
    assert.ok(!audit.body.includes(setup) && !before.includes(setup))
    assert.match(audit.body, /"by":"setup"/)
    assert.deepEqual(await world.db.selectFrom('setup_link').selectAll().execute(), [])
  }))

test('REG-06 without a data directory the service starts, and the link is only for a terminal', () =>
  inNewService(async (world) => {
    const dataDirectory = join(tmpdir(), randomBytes(8).toString('hex'), 'missing')
    const link = await offerSetup(world.db, { ...world.config, dataDirectory }, world.now())
    assert.equal(link?.path, undefined)
    assert.match(link?.url ?? '', /#cs_setup_/)
  }))
