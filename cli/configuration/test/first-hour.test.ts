import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { stringify } from 'yaml'
import { firstHour } from '../../../server/testing/first-hour.ts'
import { startService, testAdminToken, type Service } from '../../../server/testing/service.ts'
import { fieldsOf, listOf, textOf } from '../../terminal.ts'
import { inherited } from '../../testing/environment.ts'

const main = join(import.meta.dirname, '../../main.ts')
const wikiSecret = 'a-secret-of-the-wiki-with-32-characters'
let byCommands: Service
let byFile: Service
let folder: string
before(async () => {
  byCommands = await startService()
  byFile = await startService()
  folder = await mkdtemp(join(tmpdir(), 'countersign-'))
})
after(async () => {
  await Promise.all([byCommands.close(), byFile.close()])
  await rm(folder, { recursive: true })
})

type Run = { code: number; stdout: string; stderr: string }

function run(service: Service, ...words: string[]): Promise<Run> {
  const env = { ...inherited, BASE_URL: service.baseUrl, ADMIN_TOKEN: testAdminToken, WIKI_SECRET: wikiSecret }
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

async function succeed(service: Service, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(service, ...words)
  assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
  return stdout
}

/** The same as a file, which takes a secret from the environment. */
const file = stringify({
  ...firstHour,
  apps: firstHour.apps.map((app) => (app.key === 'wiki' ? { ...app, clientSecret: { fromEnv: 'WIKI_SECRET' } } : app)),
})

/** Exports the configuration. Apps that were made by hand have their client ID as key, so their names stand for it. */
async function exported(service: Service) {
  const document = fieldsOf(JSON.parse(await succeed(service, 'export', '--json')))
  const apps = listOf(document['apps']).map((app) => ({ ...fieldsOf(app), key: textOf(fieldsOf(app)['name']) }))
  return { ...document, apps: apps.toSorted((one, other) => (one.key < other.key ? -1 : 1)) }
}

test('CNF-01 twenty people, three groups and two apps are the same by commands and by one file', async () => {
  await succeed(byCommands, 'settings', 'set', 'branding.name=Example ID', 'registration.mode=invited')
  for (const { key, displayName } of firstHour.groups)
    await succeed(byCommands, 'groups', 'create', key, '--name', displayName)
  await succeed(byCommands, 'apps', 'create', '--name', 'Wiki', '--redirect-uri', 'https://wiki.example.com/callback')
  const grafana = ['--name', 'Grafana', '--redirect-uri', 'https://grafana.example.com/login']
  const restricted = ['--access', 'restricted', '--access-group', 'eng', '--access-contact', 'it@example.com']
  await succeed(byCommands, 'apps', 'create', ...grafana, '--scope', 'openid profile groups', ...restricted)
  const people = firstHour.invitations
  const invite = ({ email, groups: [group = ''], language }: (typeof people)[number]) =>
    succeed(byCommands, 'invitations', 'create', '--email', email, '--group', group, '--language', language)
  for (let nth = 0; nth < people.length; nth += 4) await Promise.all(people.slice(nth, nth + 4).map(invite))

  const path = join(folder, 'countersign.yaml')
  await writeFile(path, file)
  const shown = await succeed(byFile, 'apply', '-f', path, '--dry-run')
  assert.match(shown, /^\+ create apps\/grafana$/m)
  assert.match(shown, /^ {4}access\.mode: "restricted"$/m)
  assert.equal(fieldsOf(await exported(byFile))['invitations'], undefined)
  assert.match(await succeed(byFile, 'apply', '-f', path, '--yes'), /^Applied: 26 changes\.$/m)

  const document = await exported(byFile)
  assert.equal(listOf(fieldsOf(document)['invitations']).length, 20)
  assert.deepEqual(document, await exported(byCommands))
  assert.equal(await succeed(byFile, 'apply', '-f', path, '--yes'), 'Nothing to change.\n')
  for (const service of [byCommands, byFile]) {
    const written = join(folder, 'exported.yaml')
    await writeFile(written, await succeed(service, 'export'))
    assert.equal(await succeed(service, 'apply', '-f', written, '--yes'), 'Nothing to change.\n')
  }
})

test('CNF-03 a secret of a file is in no output, and a file that contains one is refused', async () => {
  const app = (secret: string) => `apiVersion: countersign/v1
source: secrets
apps: [{ key: s, name: S, redirectUris: ['https://s.example.com/'], clientSecret: ${secret} }]
`
  const [path, kept] = [join(folder, 'secret.yaml'), join(folder, 'secret')]
  const secret = 'kept-in-a-file-with-32-characters-or-more'
  await writeFile(kept, `${secret}\n`)
  await writeFile(path, app(`{ fromFile: ${JSON.stringify(kept)} }`))
  for (const more of [['--dry-run'], ['--dry-run', '--json'], ['--yes'], ['--yes', '--json']]) {
    const { code, stdout, stderr } = await run(byFile, 'apply', '-f', path, ...more)
    assert.equal(code, 0, stderr)
    assert.ok(!(stdout + stderr).includes(secret))
  }
  for (const wrong of [secret, '{ fromEnv: MISSING }', '{ fromFile: /nowhere }', '{ fromEnv: A, fromFile: b }']) {
    await writeFile(path, app(wrong))
    const { code, stdout, stderr } = await run(byFile, 'apply', '-f', path, '--dry-run')
    assert.equal(code, 1)
    assert.match(stderr, /^error: clientSecret of apps\/s/)
    assert.ok(!(stdout + stderr).includes(secret))
    if (wrong.includes('/nowhere')) assert.match(stderr, /no such file/)
  }
})

test('CNF-03 the secret of a webhook is read by the command, and is in no output', async () => {
  const webhook = (secret: string) => `apiVersion: countersign/v1
source: webhooks
apps:
  - key: w
    name: W
    redirectUris: ['https://w.example.com/']
    webhook: { url: 'https://w.example.com/', secret: ${secret} }
`
  const [path, kept] = [join(folder, 'webhook.yaml'), join(folder, 'webhook-secret')]
  const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
  await writeFile(kept, `${secret}\n`)
  await writeFile(path, webhook(`{ fromFile: ${JSON.stringify(kept)} }`))
  const applied = await run(byFile, 'apply', '-f', path, '--yes')
  assert.equal(applied.code, 0, applied.stderr)
  assert.match(applied.stdout, /^ {4}webhook\.secret: changed$/m)
  assert.ok(!(applied.stdout + applied.stderr).includes(secret))
  assert.equal(await succeed(byFile, 'apply', '-f', path, '--yes'), 'Nothing to change.\n')
  await writeFile(path, webhook(secret))
  const refused = await run(byFile, 'apply', '-f', path, '--dry-run')
  assert.match(refused.stderr, /^error: secret of webhook of apps\/w must be/)
  assert.ok(!refused.stderr.includes(secret))
})

test('CNF-03 headers of a sink are read by the command, and are in no output', async () => {
  const sink = (header: string) => `apiVersion: countersign/v1
source: sinks
sinks:
  - { key: siem, kind: http, url: 'https://siem.example.com/', headers: { Authorization: ${header} } }
`
  const [path, kept] = [join(folder, 'sinks.yaml'), join(folder, 'authorization')]
  const value = 'Splunk a-token-in-a-file'
  await writeFile(kept, `${value}\n`)
  await writeFile(path, sink(`{ fromFile: ${JSON.stringify(kept)} }`))
  const applied = await run(byFile, 'apply', '-f', path, '--yes')
  assert.match(applied.stdout, /^ {4}headers: changed$/m, applied.stderr)
  assert.ok(!(applied.stdout + applied.stderr).includes(value))
  assert.equal(await succeed(byFile, 'apply', '-f', path, '--yes'), 'Nothing to change.\n')
  await writeFile(path, sink(value))
  const refused = await run(byFile, 'apply', '-f', path, '--dry-run')
  assert.match(refused.stderr, /^error: header Authorization of sinks\/siem must be/)
  assert.ok(!refused.stderr.includes(value))
})

test('the plan of a file that prunes is made with --yes only if many deletions are confirmed', async () => {
  const path = join(folder, 'prune.yaml')
  const declared = (keys: string[]) => {
    const groups = keys.map((key) => `{ key: ${key}, displayName: P }`)
    return `apiVersion: countersign/v1\nsource: prune\ngroups: [${groups.join(', ')}]\n`
  }
  await writeFile(path, declared(['p1', 'p2', 'p3', 'p4', 'p5', 'p6']))
  await succeed(byFile, 'apply', '-f', path, '--yes')
  await writeFile(path, declared([]))
  assert.equal(await succeed(byFile, 'apply', '-f', path, '--yes'), 'Nothing to change.\n')
  const refused = await run(byFile, 'apply', '-f', path, '--yes', '--prune')
  assert.deepEqual(
    [refused.code, refused.stderr],
    [1, 'error: This deletes 6 objects. To confirm it, add --confirm 6.\n'],
  )
  const done = await succeed(byFile, 'apply', '-f', path, '--yes', '--prune', '--confirm', '6')
  assert.match(done, /^- delete groups\/p1$/m)
  assert.match(done, /^Applied: 6 changes\.$/m)

  const unasked = await run(byFile, 'apply', '-f', path)
  assert.deepEqual([unasked.code, /--yes or --dry-run/.test(unasked.stderr)], [2, true])
  assert.match((await run(byFile, 'apply', '-f', join(folder, 'missing.yaml'), '--yes')).stderr, /^error: cannot read/)
})

test('CNF-14 a file cannot name a secret of the service, and the plan says where each other one is from', async () => {
  const sink = (header: string) => `apiVersion: countersign/v1
source: taking
sinks: [{ key: taking, kind: http, url: 'https://taking.example/', headers: { X-Taken: ${header} } }]
`
  const path = join(folder, 'taking.yaml')
  const [bearer, all, kept] = [join(folder, 'bearer'), join(folder, 'all'), join(folder, 'secret-key')]
  await writeFile(bearer, `Bearer ${testAdminToken}\n`)
  await writeFile(kept, 'the-secret-key-of-a-service-on-this-machine\n')
  await symlink(kept, join(folder, 'link'))
  await writeFile(all, `{"admin":"${testAdminToken}"}`)
  const secrets = ['ADMIN_TOKEN', 'SECRET_KEY', 'DATABASE_URL', 'DATABASE_READ_URL', 'SMTP_URL']
  const taken = secrets.map((name) => `{ fromEnv: ${name} }`)
  const files = [bearer, all, kept, join(folder, 'link')].map((file) => `{ fromFile: ${JSON.stringify(file)} }`)
  for (const reference of [...taken, ...files]) {
    await writeFile(path, sink(reference))
    const { code, stdout, stderr } = await run(byFile, '--data-dir', folder, 'apply', '-f', path, '--yes')
    assert.deepEqual([code, stdout], [1, ''], reference)
    assert.match(stderr, /^error: header X-Taken of sinks\/taking must not be a secret of the service/, reference)
  }
  await writeFile(path, sink('{ fromEnv: WIKI_SECRET }'))
  const shown = await succeed(byFile, 'apply', '-f', path, '--dry-run')
  assert.match(shown, /^ {4}headers: changed\n {6}headers\.X-Taken from the variable WIKI_SECRET$/m)
})
