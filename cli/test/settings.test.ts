import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pngOf } from '../../server/testing/pictures.ts'
import { startService, type Service } from '../../server/testing/service.ts'
import { fieldsOf } from '../terminal.ts'
import { runCommand } from '../testing/command.ts'

const main = join(import.meta.dirname, '../main.ts')
let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

const countersign = (...words: string[]) => runCommand(service, [...words])

test('SET-04 settings are read, changed, listed and restored on the command line', async () => {
  const settings = (...words: string[]) => countersign('settings', ...words)
  assert.match((await settings('get')).stdout, /^branding\.name +Countersign +default$/m)
  assert.equal((await settings('history')).stdout, 'None yet.\n')
  const terms = 'legal.terms=https://example.com/terms?a=b'
  const changed = await settings('set', 'branding.name=Example ID', terms)
  assert.equal(changed.stdout, 'Revision 1 applies.\n', changed.stderr)
  assert.equal((await settings('get', 'branding.name')).stdout, 'Example ID\n')
  assert.equal((await settings('get', 'legal.terms')).stdout, 'https://example.com/terms?a=b\n')
  assert.equal((await settings('set', 'branding.accent=#1A7F37')).stdout, 'Revision 2 applies.\n')
  assert.equal((await settings('get', 'branding.accent')).stdout, '#1a7f37\n')
  assert.match((await settings('set', 'branding.accent=blue')).stderr, /^error: /)
  assert.equal((await settings('set', 'legal.terms=')).stdout, 'Revision 3 applies.\n')
  assert.match((await settings('history')).stdout, /^1 +\S+Z +ADMIN_TOKEN +branding\.name, legal\.terms$/m)
  const restored = await settings('restore', '1', '--json')
  assert.equal(fieldsOf(JSON.parse(restored.stdout)).revision, 4)
  assert.equal((await settings('get', 'legal.terms')).stdout, 'https://example.com/terms?a=b\n')

  const logo = join(await mkdtemp(join(tmpdir(), 'logo-')), 'logo.png')
  await writeFile(logo, pngOf(96, 96))
  assert.equal((await settings('logo', logo)).stdout, 'Revision 5 applies.\n')
  assert.match((await settings('get', 'branding.logo')).stdout, /^http:\/\/\S+\/pictures\/[0-9a-f-]{36}\n$/)
  assert.match((await settings('logo', main)).stderr, /^error: Send a picture as PNG, JPEG or WebP/)
  assert.match((await settings('logo', '/no/such/file')).stderr, /^error: \/no\/such\/file cannot be read/)
  assert.equal((await settings('set', 'branding.logo=')).stdout, 'Revision 6 applies.\n')
  assert.match((await settings('set', 'branding.logo=x')).stderr, /^error: /)

  assert.equal((await settings('set', 'audit.retentionDays=365')).stdout, 'Revision 7 applies.\n')
  assert.equal((await settings('get', 'audit.retentionDays')).stdout, '365\n')
  assert.match((await settings('set', 'audit.retentionDays=long')).stderr, /^error: .*retentionDays must be/)
  assert.equal((await settings('set', 'audit.retentionDays=')).stdout, 'Revision 8 applies.\n')

  assert.match((await settings('get', 'color')).stderr, /^error: no setting has the key color/)
  const inherited = await settings('get', 'constructor')
  assert.deepEqual([inherited.code, inherited.stdout], [1, ''])
  assert.match(inherited.stderr, /^error: no setting has the key constructor/)
  assert.match((await settings('set', 'color=red')).stderr, /^error: no setting has this key/)
  assert.match((await settings('set', 'branding.name')).stderr, /^error: branding\.name must have the form key=value/)
  assert.match(
    (await settings('set', 'legal.terms=javascript:alert(1)')).stderr,
    /^error: legal\.terms must be an https/,
  )
  assert.match((await settings('restore', '99')).stderr, /^error: No revision has this number/)
})

test('SET-11 domains are set and read on the command line, separated by commas', async () => {
  const settings = (...words: string[]) => countersign('settings', ...words)
  assert.match(
    (await settings('set', 'registration.mode=domains')).stderr,
    /^error: registration\.mode domains requires/,
  )
  const set = await settings('set', 'registration.mode=domains', 'registration.domains=*.B.example, a.example')
  assert.equal(set.code, 0, set.stderr)
  assert.equal((await settings('get', 'registration.domains')).stdout, '*.b.example,a.example\n')
  assert.match((await settings('get')).stdout, /^registration\.domains +\*\.b\.example,a\.example +database$/m)
  assert.match(
    (await settings('set', 'registration.domains=a.example,b')).stderr,
    /^error: registration\.domains must be/,
  )
  const reset = await settings('set', 'registration.mode=', 'registration.domains=')
  assert.equal(reset.code, 0, reset.stderr)
  assert.equal((await settings('get', 'registration.domains')).stdout, '\n')
})

test('SET-07 the audit log is read and filtered on the command line', async () => {
  const audit = (...words: string[]) => countersign('audit', 'list', ...words)
  assert.equal((await countersign('settings', 'set', 'branding.name=Audited')).code, 0)
  const listed = await audit('--action', 'settings', '--limit', '1')
  assert.match(listed.stdout, /^\S+Z +settings\.updated +ADMIN_TOKEN\b/m, listed.stderr)
  const entries = fieldsOf(JSON.parse((await audit('--action', 'settings.updated', '--limit', '1', '--json')).stdout))
  assert.equal(Array.isArray(entries.entries) && entries.entries.length, 1)
  assert.equal((await audit('--action', 'settings', '--to', '2020-01-01T00:00:00Z')).stdout, 'None found.\n')
  const byToken = await audit('--action', 'settings', '--by', 'break_glass', '--limit', '1')
  assert.match(byToken.stdout, /^\S+Z +settings\.updated +ADMIN_TOKEN\b/m, byToken.stderr)
  assert.equal((await audit('--action', 'settings', '--by', 'user')).stdout, 'None found.\n')
  assert.equal((await audit('--action', 'settings', '--result', 'failure')).stdout, 'None found.\n')
  const succeeded = await audit('--action', 'settings', '--result', 'success', '--limit', '1')
  assert.match(succeeded.stdout, / settings \d+ +success +127\.0\.0\.0\/24$/m, succeeded.stderr)
  assert.match((await audit('--by', 'nobody-at-all')).stderr, /^error: no identity has the username nobody-at-all/)
  assert.match((await audit('--from', 'yesterday')).stderr, /^error: /)
})

test('the audit log is exported on the command line to a new file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'audit-'))
  const [csv, jsonl] = [join(folder, 'log.csv'), join(folder, 'log.jsonl')]
  assert.equal((await countersign('settings', 'set', 'branding.name=Exported')).code, 0)
  const written = await countersign('audit', 'export', '--action', 'settings', '--out', csv)
  assert.equal(written.stdout, `Export written to ${csv}.\n`, written.stderr)
  const [head, newest] = (await readFile(csv, 'utf8')).split('\r\n')
  assert.match(head ?? '', /^"sequence","entryId","at","action",/)
  assert.match(newest ?? '', /"settings\.updated","success","break_glass",/)
  assert.match((await countersign('audit', 'export', '--out', csv)).stderr, /already exists/)
  await writeFile(`${jsonl}.part`, 'another run')
  assert.match((await countersign('audit', 'export', '--out', jsonl)).stderr, /\.part exists\. If no other export/)
  assert.equal(await readFile(`${jsonl}.part`, 'utf8'), 'another run')
  await rm(`${jsonl}.part`)
  const lines = await countersign(
    'audit',
    'export',
    '--format',
    'jsonl',
    '--to',
    '2020-01-01T00:00:00Z',
    '--out',
    jsonl,
  )
  assert.equal(lines.code, 0, lines.stderr)
  assert.equal(await readFile(jsonl, 'utf8'), '')
  assert.equal((await countersign('audit', 'export', '--format', 'xml', '--out', jsonl)).code, 2)
})

test('AUD-01 the audit log is verified on the command line, also against a head that was printed before', async () => {
  const verify = (...words: string[]) => countersign('audit', 'verify', ...words)
  const first = await verify()
  assert.match(first.stdout, /^Verified \d+ events, 1 to \d+\.\nHead: \d+:\S{44}\n$/, first.stderr)
  const known = /Head: (\S+)/.exec(first.stdout)?.[1] ?? ''
  assert.equal((await countersign('settings', 'set', 'branding.name=Later')).code, 0)
  const later = await verify('--known', known)
  assert.equal(later.code, 0, later.stderr)
  assert.notEqual(later.stdout, first.stdout)
  const other = await verify('--known', `1:${'A'.repeat(43)}=`)
  assert.equal(other.code, 1)
  assert.match(other.stderr, /^error: the log does not contain the head 1:AAA/)
  assert.equal((await verify('--known', `999999:${'A'.repeat(43)}=`)).code, 1)
  assert.equal((await verify('--known', 'yesterday')).code, 2)
  assert.equal(fieldsOf(JSON.parse((await verify('--from', '2', '--json')).stdout)).erased, 0)
})
