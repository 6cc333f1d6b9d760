import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createRemotePerson } from '../../server/testing/remote-signer.ts'
import { startService, testAdminToken, type Service } from '../../server/testing/service.ts'
import { fieldsOf, listOf, textOf } from '../terminal.ts'
import { inherited } from '../testing/environment.ts'

const main = join(import.meta.dirname, '../main.ts')
let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

type Run = { code: number; stdout: string; stderr: string }

function people(...words: string[]): Promise<Run> {
  const env = { ...inherited, BASE_URL: service.baseUrl, ADMIN_TOKEN: testAdminToken }
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'people', ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

test('people are listed, searched and shown, with their activity and apps', async (t) => {
  assert.equal((await people('list', '--query', 'without-match')).stdout, 'None found.\n')
  await createRemotePerson(service)
  const { identities } = fieldsOf(JSON.parse((await people('list', '--json', '--limit', '1')).stdout))
  const [first] = listOf(identities).map(fieldsOf)
  const handle = textOf(first?.['handle'])
  const listed = await people('list', '--query', handle, '--created-from', '2026-01-01T00:00:00Z')
  assert.ok(listed.stdout.includes(`@${handle}`), listed.stdout)
  for (const named of [handle, `@${handle.toUpperCase()}`, textOf(first?.['identityId'])])
    assert.match((await people('show', named)).stdout, /^Status +active$[^]*^Passkey +yes$/m)
  assert.match((await people('activity', handle, '--limit', '500')).stdout, / identity\.viewed +operator/)
  assert.equal((await people('apps', handle)).stdout, 'None yet.\n')
  assert.equal((await people('list', '--status', 'suspended')).stdout, 'None found.\n')
  await people('suspend', textOf(first?.['identityId']), '--reason', 'Left the company')
  assert.match((await people('list', '--status', 'suspended')).stdout, new RegExp(`@${handle} .* suspended `))
  assert.match((await people('show', handle)).stdout, /^Status +suspended$[^]*^Reason +Left the company$/m)
  const folder = await mkdtemp(join(tmpdir(), 'countersign-'))
  t.after(() => rm(folder, { recursive: true }))
  const out = join(folder, 'exported.json')
  assert.equal((await people('export', handle, '--out', out)).stdout, `Export written to ${out}.\n`)
  assert.equal((await stat(out)).mode & 0o777, 0o600)
  assert.equal(fieldsOf(JSON.parse(await readFile(out, 'utf8')))['handle'], handle)
  assert.equal((await people('export', handle, '--out', out)).stderr, `error: ${out} already exists\n`)
  const edited = await people('edit', handle, '--name', 'Ada L.', '--email', 'ada@example.org')
  assert.deepEqual([edited.stderr, edited.stdout], ['', `@${handle} is changed.\n`])
  assert.match((await people('show', handle)).stdout, /^Name +Ada L\.$[^]*^E-mail +ada@example\.org \(not verified\)$/m)
  assert.equal((await people('edit', handle, '--no-email')).code, 0)
  assert.match((await people('show', handle)).stdout, /^E-mail +none$/m)
  const nothing = await people('edit', handle)
  assert.deepEqual([nothing.code, nothing.stderr], [1, 'error: name what to change: --username, --name or --email\n'])
  const unknown = await people('show', 'without-match')
  assert.deepEqual([unknown.code, unknown.stderr], [1, 'error: no identity has the username without-match\n'])
  for (const words of [['list', '--limit', 'all'], ['list', '--sort', 'email'], ['list', '--status', 'gone'], ['show']])
    assert.equal((await people(...words)).code, 2, words.join(' '))
})

test('an identity is added with a link, invited again, found as invited, and deleted', async () => {
  const created = await people('create', '--username', '@new-person', '--name', 'New Person')
  assert.equal(created.stderr, '')
  const [link] = /https?:\S+\/register#cs_inv_\S+/.exec(created.stdout) ?? assert.fail(created.stdout)
  assert.match(created.stdout, /^Username +@new-person$/m)
  assert.match((await people('list', '--status', 'invited')).stdout, /@new-person .* invited /)
  assert.match((await people('show', 'new-person')).stdout, /^Status +invited$/m)
  const again = await people('invite', 'new-person')
  assert.match(again.stdout, /\/register#cs_inv_/)
  assert.ok(!again.stdout.includes(link))
  const taken = await people('create', '--username', 'NEW-PERSON', '--name', 'Another')
  assert.deepEqual([taken.code, taken.stdout], [1, ''])
  assert.match(taken.stderr, /^error: This handle is already in use/)
  const suspended = await people('suspend', 'new-person', '--reason', 'Left the company')
  assert.match(suspended.stderr, /^error: The identity is invited/)
  assert.equal((await people('delete', 'new-person', '--confirm', 'new-person', '--reason', 'A mistake')).code, 0)
  assert.equal((await people('list', '--status', 'invited')).stdout, 'None found.\n')
  for (const words of [['create', '--name', 'A'], ['create', '--username', 'a-b'], ['invite']])
    assert.equal((await people(...words)).code, 2, words.join(' '))
})
