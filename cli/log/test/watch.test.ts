import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createSigner, newSigningPair, rotationOf } from '../../../server/testing/signer.ts'
import { createWorld, type TestWorld } from '../../../server/testing/world.ts'
import { inherited } from '../../testing/environment.ts'

let folder: string
let world: TestWorld
let baseUrl: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-watch-'))
  world = await createWorld()
  baseUrl = await world.api.listen({ host: 'localhost', port: 0 })
})
after(async () => {
  await world.close()
  await rm(folder, { recursive: true })
})

function watch(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = join(import.meta.dirname, '../../main.ts')
  const env = { ...inherited, BASE_URL: baseUrl.replace('127.0.0.1', 'localhost') }
  return new Promise((resolve) => {
    execFile(process.execPath, [program, 'log', 'watch', ...words], { env, cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}
const lines = (text: string) => text.trimEnd().split('\n')

test('log watch prints new events, of all identities or of the named ones', async () => {
  const [ada] = [await createSigner(world), await createSigner(world)]
  const first = await watch('--state', 'seen')
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^localhost:4400\/transparency: 2 entries, 2 new\. Append-only check passed\.\n/)
  assert.equal(lines(first.stdout).length, 4)
  assert.equal(lines((await watch('--state', 'seen')).stdout).length, 1)

  const next = newSigningPair()
  await ada.rotate(rotationOf(ada.identityId, ada.pair, next))
  await createSigner(world)
  const output = await watch('--state', 'seen', '--identity', ada.identityId)
  assert.match(output.stdout, /4 entries, 2 new/)
  assert.equal(lines(output.stdout).length, 3)
  assert.match(lines(output.stdout)[2] ?? '', new RegExp(`^[23] .* rotated {2}2 {8}${RegExp.escape(next.publicKey)}$`))
})

test('TLG-05 a log that was rolled back, rewritten or replaced is detected', async () => {
  await watch('--state', 'kept')
  await cp(join(folder, 'kept'), join(folder, 'ahead'))
  const kept = JSON.parse(await readFile(join(folder, 'kept'), 'utf8'))
  const complaint = async (seen: object) => {
    await writeFile(join(folder, 'seen'), JSON.stringify(seen))
    const { code, stdout, stderr } = await watch('--state', 'seen')
    assert.deepEqual([code, stdout], [1, ''])
    assert.equal(await readFile(join(folder, 'seen'), 'utf8'), JSON.stringify(seen), 'the stored state is kept')
    return stderr
  }
  const hash = Buffer.alloc(32).toString('base64')
  assert.match(await complaint({ ...kept, subtrees: [{ level: 8, hash }] }), /has 4 entries, but had 256/)
  assert.match(await complaint({ ...kept, subtrees: [{ level: 1, hash }] }), /does not extend the last state/)
  assert.match(await complaint({ ...kept, subtrees: [{ level: 2, hash }] }), /do not match the signed log/)
  assert.match(await complaint({ ...kept, publicKey: newSigningPair().publicKey }), /not signed by the key/)
  assert.match(await complaint({ ...kept, origin: 'another/log' }), /not signed by the key of the log another\/log/)
  assert.match(await complaint({ ...kept, subtrees: [{ level: 1, hash: 'short' }] }), /is not a valid state file/)
})
