import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createRemotePerson } from '../../server/testing/remote-signer.ts'
import { startService, testAdminToken, type Service } from '../../server/testing/service.ts'
import { fieldsOf } from '../terminal.ts'
import { inherited } from '../testing/environment.ts'

const main = join(import.meta.dirname, '../main.ts')
let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

type Run = { code: number; stdout: string; stderr: string }

function countersign(words: string[], environment: Record<string, string> = {}): Promise<Run> {
  const env = { ...inherited, BASE_URL: service.baseUrl, ADMIN_TOKEN: testAdminToken, ...environment }
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

test('OPR-02 the first operator is added by username, listed, changed and removed', async () => {
  const operators = (...words: string[]) => countersign(['operators', ...words])
  assert.match((await operators('list')).stdout, /^None yet: countersign operators add <username> --role owner$/m)
  const { handle: grace } = await createRemotePerson(service)
  assert.equal((await operators('add', grace)).code, 2)
  assert.equal((await operators('add', grace, '--role', 'king')).code, 2)
  assert.match((await operators('add', 'ghost', '--role', 'owner')).stderr, /^error: No identity has this username/)
  const added = await operators('add', `@${grace}`, '--role', 'owner')
  assert.equal(added.stdout, `@${grace} is an operator with the role owner.\n`, added.stderr)
  assert.match((await operators('list')).stdout, /^\S+ +@person-\w+ +owner +\S+Z$/m)
  assert.match((await operators('change', grace, '--role', 'apps')).stderr, /^error: The service must have an owner/)
  assert.match((await operators('remove', 'ghost')).stderr, /^error: no identity has the username ghost/)
  const { handle: heidi, identityId } = await createRemotePerson(service)
  assert.match((await operators('remove', heidi)).stderr, /^error: No operator has this ID/)
  await operators('add', heidi, '--role', 'owner')
  const changed = await operators('change', grace.toUpperCase(), '--role', 'apps', '--keep-tokens', '--json')
  assert.equal(fieldsOf(JSON.parse(changed.stdout)).role, 'apps')
  assert.equal((await operators('remove', grace)).stdout, `${grace} is no longer an operator.\n`)
  assert.equal((await operators('add', grace, '--role', 'owner')).code, 0)
  assert.equal((await operators('remove', identityId)).stdout, `${identityId} is no longer an operator.\n`)
})

test('OPR-03 an admin token is created, used by the command itself, rotated and revoked', async () => {
  const tokens = (...words: string[]) => countersign(['tokens', ...words])
  assert.match((await tokens('list')).stdout, /^None yet: countersign tokens create$/m)
  assert.equal((await tokens('create', '--name', 'CI')).code, 2)
  for (const wrong of [
    ['--permission', 'tokens.manage'],
    ['--permission', 'apps.read', '--days', '367'],
  ])
    assert.equal((await tokens('create', '--name', 'CI', ...wrong)).code, 2)
  const reading = ['--permission', 'apps.read', '--permission', 'keys.read,apps.read']
  const within = ['--network', '127.0.0.0/8', '--network', '::1']
  const created = await tokens('create', '--name', 'CI', ...reading, '--days', '366', ...within)
  const [, token = ''] = /^Token +(cs_admin_\S+)$/m.exec(created.stdout) ?? []
  const [, tokenId = ''] = /^ID +(\S+)$/m.exec(created.stdout) ?? []
  assert.equal((await countersign(['apps', 'list'], { ADMIN_TOKEN: token })).code, 0, created.stderr)
  assert.match(created.stdout, /^Networks +127\.0\.0\.0\/8 ::1/m)
  const denied = await countersign(['tokens', 'list'], { ADMIN_TOKEN: token })
  assert.deepEqual([denied.code, denied.stderr], [1, 'error: This requires the permission tokens.read.\n'])
  assert.match((await tokens('list')).stdout, /^\S+ +CI +\S+Z +\S+:00:00\.000Z +apps\.read keys\.read$/m)

  const rotated = await tokens('rotate', tokenId, '--grace', '60')
  assert.match(rotated.stdout, /^The old token is valid +until \S+Z$/m)
  assert.equal((await countersign(['apps', 'list'], { ADMIN_TOKEN: token })).code, 0)
  assert.equal((await tokens('revoke', tokenId)).stdout, `${tokenId} was revoked.\n`)
  assert.equal((await countersign(['apps', 'list'], { ADMIN_TOKEN: token })).code, 1)
  assert.match((await tokens('revoke', tokenId)).stderr, /^error: No admin token has this ID/)
})
