import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createWorld, type TestWorld } from '../../server/testing/world.ts'
import { inherited } from '../testing/environment.ts'

let folder: string
let world: TestWorld
let baseUrl: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-trust-'))
  world = await createWorld()
  baseUrl = (await world.api.listen({ host: 'localhost', port: 0 })).replace('127.0.0.1', 'localhost')
})
after(async () => {
  await world.close()
  await rm(folder, { recursive: true })
})

function trust(words: string[], service = baseUrl): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = join(import.meta.dirname, '../main.ts')
  const env = { ...inherited, BASE_URL: service }
  return new Promise((resolve) => {
    execFile(process.execPath, [program, 'trust', ...words], { env, cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}
const kept = (file: string) => readFile(join(folder, file), 'utf8')

test('TRU-24 trust init writes the key of the log, and prints the fingerprint that the server publishes', async () => {
  const made = await trust(['init'])
  assert.equal(made.code, 0, made.stderr)
  const { keys, origin, verifierKey } = (await world.api.inject({ url: '/api/transparency/jwks' })).json()
  assert.deepEqual(JSON.parse(await kept('trust.json')), { version: 1, origin, verifierKey })
  assert.match(made.stdout, new RegExp(`^fingerprint {2}${keys[0].kid}$`, 'm'))

  const shown = await trust(['show'], 'http://localhost:9')
  assert.equal(shown.code, 0, shown.stderr)
  assert.ok(made.stdout.startsWith(shown.stdout))
  const inJson = JSON.parse((await trust(['show', 'trust.json', '--json'])).stdout)
  assert.deepEqual(inJson, { origin, verifierKey, fingerprint: keys[0].kid })
  const written = JSON.parse((await trust(['init', '--out', 'other.json', '--json'])).stdout)
  assert.deepEqual(written, { file: 'other.json', ...inJson })
})

test('TRU-24 trust init never replaces a file unless it is forced to', async () => {
  await writeFile(join(folder, 'mine.json'), 'mine')
  const refused = await trust(['init', '--out', 'mine.json'])
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /mine\.json exists\. .*--force/)
  assert.equal(await kept('mine.json'), 'mine')
  assert.equal((await trust(['init', '--out', 'mine.json', '--force'])).code, 0)
  assert.match(await kept('mine.json'), /verifierKey/)
  assert.match((await trust(['init', '--out', 'none/trust.json'])).stderr, /cannot be written \(.*ENOENT/)
})

test('TRU-24 a server that names another key than that of its log is refused, and nothing is written', async (t) => {
  const checkpoint = (await world.api.inject({ url: '/api/transparency/checkpoint' })).body
  const verifierKey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
  const answers: Record<string, string> = {
    localhost: JSON.stringify({ verifierKey }),
    '127.0.0.1': JSON.stringify({ verifierKey: `${verifierKey}A` }),
  }
  const server = createServer(({ url = '', headers: { host = '' } }, response) => {
    response.end(url.endsWith('/checkpoint') ? checkpoint : answers[host.split(':')[0] ?? ''])
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const by = (name: string) => trust(['init', '--out', 'false.json'], `http://${name}:${address.port}`)
  assert.match((await by('localhost')).stderr, /not signed by the key of the log PeterNeumann/)
  assert.match((await by('127.0.0.1')).stderr, /does not return the key of its log/)
  await assert.rejects(kept('false.json'), { code: 'ENOENT' })
  await writeFile(join(folder, 'broken.json'), '{}')
  assert.match((await trust(['show', 'broken.json'])).stderr, /not a file of `countersign trust init`/)
  assert.match((await trust(['show', 'none.json'])).stderr, /cannot be read as JSON/)
})
