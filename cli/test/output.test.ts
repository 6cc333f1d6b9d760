import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { ask, createRemotePerson } from '../../server/testing/remote-signer.ts'
import { startService, testAdminToken, type Service } from '../../server/testing/service.ts'
import { reach } from '../call.ts'
import { fieldsOf, formatTable, listOf, textOf } from '../terminal.ts'
import { inherited } from '../testing/environment.ts'

const root = join(import.meta.dirname, '../..')
let service: Service
before(async () => {
  service = await startService({ environment: { RATE_LIMIT_NUMBERS: 'organizations-created-per-user=120' } })
})
after(() => service.close())

type Run = { code: number; stdout: string; stderr: string }

function countersign(words: string[], environment: Record<string, string> = {}, cwd = process.cwd()): Promise<Run> {
  const env = { ...inherited, BASE_URL: service.baseUrl, ADMIN_TOKEN: testAdminToken, ...environment }
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'cli/main.ts'), ...words], { env, cwd }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

test('CLI-10 with --json an error is JSON in the format of the API, with the same exit code', async () => {
  const gone = await countersign(['apps', 'show', 'app_nothing', '--json'])
  const misspelt = await countersign(['apps', 'shwo', '--json'])
  const unfinished = await countersign(['apps', '--json'])
  const away = await countersign(['apps', 'list', '--json'], { BASE_URL: 'http://localhost:9' })
  const unreadable = await countersign(['log', 'watch', '--state', root, '--json'])
  const unwritable = await countersign(['log', 'watch', '--state', join(root, 'package.json/seen'), '--json'])
  const codes = [gone, misspelt, unfinished, away, unreadable, unwritable].map(({ code, stdout, stderr }) => {
    assert.equal(stdout, '')
    const { error, error_description: description } = fieldsOf(JSON.parse(stderr))
    assert.match(textOf(description), /\w \w+ \w/, 'a sentence')
    return [code, error]
  })
  assert.deepEqual(codes, [
    [1, 'app_not_found'],
    [2, 'invalid_usage'],
    [2, 'invalid_usage'],
    [1, 'failed'],
    [1, 'failed'],
    [1, 'failed'],
  ])
})

/** Starts a server that gives the same answer to every request. Returns its URL. */
async function answering(t: TestContext, status: number, body = ''): Promise<string> {
  const other = createServer((_, response) => response.writeHead(status).end(body)).listen(0, 'localhost')
  await once(other, 'listening')
  t.after(() => other.close())
  const address = other.address()
  assert.ok(address !== null && typeof address === 'object')
  return `http://localhost:${address.port}`
}

test('an answer of a faulty server names its request', async (t) => {
  const requestId = '9eec93be-3908-45ff-b7c1-3eaba424ecdf'
  const body = JSON.stringify({ error: 'server_error', error_description: 'Internal server error.', requestId })
  const { code, stderr } = await countersign(['apps', 'list'], { BASE_URL: await answering(t, 500, body) })
  assert.deepEqual([code, stderr], [1, `error: Internal server error. (requestId ${requestId})\n`])
})

test('doctor says that a server has other URLs', async (t) => {
  const { code, stdout } = await countersign(['doctor'], { BASE_URL: await answering(t, 421) })
  assert.equal(code, 1)
  assert.match(stdout, /✖ server .*returned 421: the server answers under other URLs\n.*BASE_URL/)
})

test('an empty variable counts as unset', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-empty-'))
  t.after(() => rm(folder, { recursive: true }))
  const unset = { BASE_URL: '', AUTH_URL: '', ADMIN_TOKEN: '', DATA_DIR: '' }
  const { code, stderr } = await countersign(['apps', 'list'], unset, folder)
  assert.equal(code, 1)
  assert.match(stderr, /^error: No admin token: .* contains data\/admin-token\n$/)
})

test('CLI-17 an admin token that is not a valid header value is rejected, and not printed', async (t) => {
  const [first, second] = ['the-first-line-of-a-token', 'the-second-line-of-a-token']
  const ADMIN_TOKEN = `${first}\n${second}`
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'countersign-token-'))
  t.after(() => rm(DATA_DIR, { recursive: true }))
  await writeFile(join(DATA_DIR, 'admin-token'), `${ADMIN_TOKEN}\n`)
  const BACKUP_PASSPHRASE = 'four words that are long'
  for (const environment of [{ ADMIN_TOKEN }, { ADMIN_TOKEN: '', DATA_DIR }])
    for (const words of [['apps', 'list'], ['doctor'], ['backup', '--out', join(DATA_DIR, 'backup')]]) {
      const { code, stdout, stderr } = await countersign(words, { ...environment, BACKUP_PASSPHRASE })
      assert.equal(code, 1)
      assert.match(stdout + stderr, /must be one line of ASCII/)
      assert.doesNotMatch(stdout + stderr, /-line-of-a-token|\n {4}at /)
    }
})

/** Lists the ids that `<things> list` prints; each appears once. */
async function listed(things: 'apps' | 'organizations', id: string): Promise<string[]> {
  const { stdout } = await countersign([things, 'list', '--json'])
  const ids = listOf(fieldsOf(JSON.parse(stdout))[things]).map((each) => textOf(fieldsOf(each)[id]))
  assert.equal(new Set(ids).size, ids.length)
  return ids
}

test('QRY-06 every app is listed, on however many pages the server sends them', async () => {
  const json = { name: 'One of many', redirectUris: ['https://shop.example/callback'] }
  const made: string[] = []
  for (let nth = 0; nth < 201; nth += 1)
    made.push((await ask<{ clientId: string }>(service, '/api/admin/apps', { headers: service.admin, json })).clientId)
  const known = await listed('apps', 'clientId')
  assert.deepEqual(new Set(made).difference(new Set(known)), new Set())
})

test('QRY-06 every organization is listed, on however many pages the server sends them', async () => {
  type Made = { organization: { id: string } }
  const made: string[] = []
  for (const handle of ['ada', 'bob', 'cyd', 'dan']) {
    const { identityId, headers } = await createRemotePerson(service, handle)
    const json = { name: 'One of many', identityId }
    const business = { baseUrl: service.businessUrl }
    for (let nth = 0; nth < 51; nth += 1)
      made.push((await ask<Made>(business, '/api/organizations', { headers, json })).organization.id)
  }
  assert.deepEqual((await listed('organizations', 'organizationId')).toSorted(), made.toSorted())
})

/** Starts a server with two pages of groups. Returns its URL, and the methods of requests that it refused. */
async function limiting(t: TestContext, retryAfter: (nth: number) => string | undefined) {
  const refused: (string | undefined)[] = []
  const group = { displayName: 'Group', memberCount: 1 }
  let nth = 0
  const other = createServer(({ method, url = '' }, response) => {
    const seconds = retryAfter((nth += 1))
    if (seconds !== undefined) {
      refused.push(method)
      const body = { error: 'rate_limited', error_description: 'Too many requests.' }
      return response.writeHead(429, { 'retry-after': seconds }).end(JSON.stringify(body))
    }
    const [key, nextCursor] = url.includes('cursor=') ? ['second', null] : ['first', 'next']
    response.end(JSON.stringify({ groups: [{ ...group, key }], nextCursor }))
  }).listen(0, 'localhost')
  await once(other, 'listening')
  t.after(() => other.close())
  const address = other.address()
  assert.ok(address !== null && typeof address === 'object')
  return { BASE_URL: `http://localhost:${address.port}`, refused }
}

test('a list with more pages than the rate limit allows waits and is complete', async (t) => {
  const { BASE_URL, refused } = await limiting(t, (nth) => (nth === 2 || nth === 3 ? '1' : undefined))
  const { code, stdout, stderr } = await countersign(['groups', 'list'], { BASE_URL })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /first.*\nsecond/)
  assert.equal(stderr, 'rate limit reached; continuing in 1 s\n'.repeat(2))
  assert.equal(refused.length, 2)
})

test('a command stops at a rate limit that lasts long, and a change at any, with the time', async (t) => {
  const hour = await limiting(t, () => '3600')
  const read = await countersign(['groups', 'list'], { BASE_URL: hour.BASE_URL })
  assert.deepEqual([read.code, read.stderr], [1, 'error: Too many requests. (retry in 3600 s)\n'])
  assert.deepEqual(hour.refused, ['GET'])
  const second = await limiting(t, () => '1')
  const change = await countersign(['groups', 'create', 'eng'], { BASE_URL: second.BASE_URL })
  assert.deepEqual([change.code, change.stderr], [1, 'error: Too many requests. (retry in 1 s)\n'])
  assert.deepEqual(second.refused, ['POST'])
})

test('a table has any number of rows', () => {
  const rows = Array.from({ length: 200_000 }, (_, nth) => [String(nth), 'shown'])
  const lines = formatTable([['Number', 'State'], ...rows])
  assert.deepEqual([lines.length, lines.at(0), lines.at(-1)], [200_001, 'Number  State', '199999  shown'])
})

test('CLI-11 the command prints its version and a working completion script', async () => {
  const { version } = fieldsOf(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  assert.equal((await countersign(['--version'])).stdout.trim(), version)
  const { stdout } = await countersign(['completion', 'bash'])
  const complete = (...typed: string[]) =>
    execFileSync(
      'bash',
      [
        '-c',
        `${stdout}\nCOMP_WORDS=("$@")\nCOMP_CWORD=$(($# - 1))\n_countersign\necho "\${COMPREPLY[@]}"`,
        'bash',
        ...typed,
      ],
      { encoding: 'utf8' },
    ).trim()
  assert.equal(complete('countersign', 'orga'), 'organizations')
  assert.equal(complete('countersign', 'apps', 'cr'), 'create')
  assert.match(complete('countersign', 'apps', 'create', '--redirect'), /^--redirect-uri$/)
  const zsh = await countersign(['completion', 'zsh'])
  assert.equal(zsh.stdout, `autoload -U +X bashcompinit && bashcompinit\n${stdout}`)
})

test('a request without a response names the time that it waited', async (t) => {
  const silent = createServer(() => {}).listen(0)
  t.after(() => {
    silent.close()
    silent.closeAllConnections()
  })
  await once(silent, 'listening')
  const address = silent.address()
  assert.ok(address !== null && typeof address === 'object')
  await assert.rejects(reach(`http://localhost:${address.port}`, {}, 0.1), /no response within 0\.1 s/)
})
