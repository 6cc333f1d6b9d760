import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { after, before, test } from 'node:test'
import { backupMediaType } from '@countersign/protocol/operations/backup'
import { openSettings } from '#platform/settings/current-settings.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const options = { secretKey: 'a-secret-key-for-tests-of-32-characters', environment: { DATA_DIR: tmpdir() } }
let world: TestWorld
let restored: TestWorld
before(async () => {
  ;[world, restored] = [await createWorld(options), await createWorld(options)]
})
after(() => Promise.all([world.close(), restored.close()]))

async function rename({ api, admin }: TestWorld, revision: number, name: string): Promise<void> {
  const headers = { ...admin, 'if-match': `"${revision}"` }
  const payload = { settings: { 'branding.name': name } }
  const answer = await api.inject({ method: 'PATCH', url: '/api/admin/settings', headers, payload })
  assert.equal(answer.statusCode, 200, answer.body)
}

test('a restored server has the settings of the backup at once, and changes them as before', async () => {
  await rename(world, 0, 'Example ID')
  const { rawPayload: payload } = await world.api.inject({ url: '/api/admin/backup', headers: world.admin })
  for (const revision of [0, 1, 2]) await rename(restored, revision, `Trial ${revision}`)
  const { config, db } = restored.kernel
  const ofOtherProcess = await openSettings({ config, db })

  const headers = { ...restored.admin, 'content-type': backupMediaType }
  const answer = await restored.api.inject({ method: 'POST', url: '/api/admin/restore', headers, payload })
  assert.equal(answer.statusCode, 200, answer.body)
  const readPage = async () => (await restored.auth.inject({ url: '/' })).body
  assert.match(await readPage(), /<title>Example ID<\/title>/)
  await ofOtherProcess.refresh()
  assert.equal(ofOtherProcess.values()['branding.name'], 'Example ID')
  await rename(restored, 1, 'Restored ID')
  assert.match(await readPage(), /<title>Restored ID<\/title>/)
})
