import assert from 'node:assert/strict'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Settings } from '@countersign/protocol/operations/settings'
import { verifyInvariants } from '#testing/invariants.ts'
import { jpeg, pngOf } from '#testing/pictures.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const url = '/api/admin/settings'
const read = async () => (await world.api.inject({ url, headers: world.admin })).json<Settings>()

async function upload(picture: Buffer, revision?: number) {
  const headers = {
    ...world.admin,
    'if-match': `"${revision ?? (await read()).revision}"`,
    'content-type': 'application/octet-stream',
  }
  return world.api.inject({ method: 'PUT', url: `${url}/logo`, headers, payload: picture })
}

async function uploaded(picture: Buffer): Promise<string> {
  const answer = await upload(picture)
  assert.equal(answer.statusCode, 200, answer.body)
  const { value, source } = answer.json<Settings>().settings['branding.logo'] ?? {}
  assert.equal(source, 'database')
  assert.ok(typeof value === 'string')
  return value
}

async function send(method: 'PATCH' | 'POST', path: string, payload?: object) {
  const headers = { ...world.admin, 'if-match': `"${(await read()).revision}"` }
  return world.api.inject({ method, url: `${url}${path}`, headers, ...(payload && { payload }) })
}

const pathOf = (logo: string) => new URL(logo).pathname
const picture = (logo: string) => world.api.inject({ url: pathOf(logo) })
const startPage = async () => (await world.auth.inject({ url: '/' })).body

test('an uploaded logo is on every page until it is removed', async () => {
  assert.equal((await read()).settings['branding.logo']?.value, null)
  const logo = await uploaded(pngOf(96, 40))
  const shown = await picture(logo)
  assert.deepEqual([shown.statusCode, shown.headers['content-type']], [200, 'image/webp'])
  assert.ok((await startPage()).includes(logo))
  const removed = await send('PATCH', '', { settings: { 'branding.logo': null } })
  assert.equal(removed.json<Settings>().settings['branding.logo']?.value, null)
  assert.ok(!(await startPage()).includes(logo))
})

test('SET-10 a revision that is restored has its logo again', async () => {
  const [first, second] = [await uploaded(pngOf(64, 64)), await uploaded(jpeg)]
  assert.notEqual(first, second)
  const { revision } = await read()
  const restored = await send('POST', `/revisions/${revision - 1}/restore`)
  assert.equal(restored.json<Settings>().settings['branding.logo']?.value, first)
  for (const logo of [first, second]) assert.equal((await picture(logo)).statusCode, 200)
  const history = await world.api.inject({ url: `${url}/revisions?limit=1`, headers: world.admin })
  assert.equal(history.json().revisions[0].values['branding.logo'], first)
  await verifyInvariants(world.db, world.now())
})

test('SET-10 other files and changes of an earlier revision leave the logo as it is', async () => {
  const logo = await uploaded(pngOf(64, 64))
  const { revision } = await read()
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
  assert.deepEqual([(await upload(svg)).statusCode, (await upload(svg)).json().error], [415, 'unsupported_media_type'])
  assert.equal((await upload(pngOf(64, 64).subarray(0, 60))).json().error, 'invalid_picture')
  assert.equal((await upload(Buffer.alloc(3 * 1024 * 1024))).statusCode, 413)
  const late = await upload(pngOf(64, 64), revision - 1)
  assert.deepEqual([late.statusCode, late.json().error], [412, 'version_mismatch'])
  const person = await world.person()
  const avatar = await world.api.inject({
    ...{ method: 'PUT', url: `/api/identities/${person.identityId}/avatar`, payload: pngOf(64, 64) },
    headers: { ...person.headers, 'content-type': 'application/octet-stream' },
  })
  const pictureId = String(avatar.json().avatarUrl).split('/').at(-1)
  assert.equal((await send('PATCH', '', { settings: { 'branding.logo': pictureId } })).statusCode, 400)
  assert.equal((await read()).settings['branding.logo']?.value, logo)
  await verifyInvariants(world.db, world.now())
})

test('logos that no revision names are deleted', async () => {
  const logo = await uploaded(pngOf(64, 64))
  await world.db
    .deleteFrom('setting_revision')
    .where('revision', '<=', (await read()).revision - 1)
    .execute()
  await world.db.updateTable('setting_revision').set({ stored: '{}' }).execute()
  await uploaded(pngOf(64, 64))
  assert.equal((await picture(logo)).statusCode, 404)
})

test('SET-02 a logo of the environment stays', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'logo-'))
  const file = join(folder, 'logo.png')
  await writeFile(file, pngOf(64, 64))
  const fixed = await createWorld({ environment: { BRAND_LOGO: file } })
  t.after(() => fixed.close())
  const found = await fixed.api.inject({ url, headers: fixed.admin })
  const { value, editable, source } = found.json<Settings>().settings['branding.logo'] ?? {}
  assert.deepEqual([editable, source], [false, 'environment'])
  assert.ok(typeof value === 'string')
  assert.equal((await fixed.api.inject({ url: pathOf(value) })).statusCode, 200)
  assert.ok((await fixed.auth.inject({ url: '/' })).body.includes(value))
  const answer = await fixed.api.inject({
    ...{ method: 'PUT', url: `${url}/logo`, payload: pngOf(64, 64) },
    headers: { ...fixed.admin, 'if-match': '"0"', 'content-type': 'application/octet-stream' },
  })
  assert.deepEqual([answer.statusCode, answer.json().error], [409, 'setting_fixed_by_environment'])
})
