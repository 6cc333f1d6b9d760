import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startService, testAdminToken, type Service } from '../server/testing/service.ts'
import { fieldsOf, listOf, textOf } from './json.ts'
import { inherited } from './testing/environment.ts'

const root = join(import.meta.dirname, '..')
let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

type Run = { code: number; stdout: string; stderr: string }

function countersign(words: string[], environment: Record<string, string> = {}): Promise<Run> {
  const env = { ...inherited, BASE_URL: service.baseUrl, ADMIN_TOKEN: testAdminToken, ...environment }
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'cli/main.ts'), ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

test('CLI-10 with --json a failure is JSON in the shape of the API, and the exit code stays', async () => {
  const gone = await countersign(['apps', 'show', 'app_nothing', '--json'])
  const misspelt = await countersign(['apps', 'shwo', '--json'])
  const away = await countersign(['apps', 'list', '--json'], { BASE_URL: 'http://localhost:9' })
  const codes = [gone, misspelt, away].map(({ code, stdout, stderr }) => {
    assert.equal(stdout, '')
    const { error, error_description: description } = fieldsOf(JSON.parse(stderr))
    assert.ok(textOf(description).length > 10)
    return [code, error]
  })
  assert.deepEqual(codes, [
    [1, 'app_not_found'],
    [2, 'invalid_usage'],
    [1, 'failed'],
  ])
})

test('QRY-06 every app is listed, on however many pages the server tells them', async () => {
  const headers = { authorization: `Bearer ${testAdminToken}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'One of many', redirectUris: ['https://shop.example/callback'] })
  const url = `${service.baseUrl}/api/admin/apps`
  for (let nth = 0; nth < 101; nth += 1) assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 201)
  const { stdout } = await countersign(['apps', 'list', '--json'])
  const listed = listOf(fieldsOf(JSON.parse(stdout)).apps).map((app) => textOf(fieldsOf(app).clientId))
  assert.ok(listed.length > 101)
  assert.equal(new Set(listed).size, listed.length)
})

test('CLI-11 the command prints its version, and a script that completes its words', async () => {
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
})
