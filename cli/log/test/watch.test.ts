import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createSigner, newSigningPair, rotationOf } from '../../../server/testing/signer.ts'
import { createWorld, type World } from '../../../server/testing/world.ts'
import { inherited } from '../../testing/environment.ts'

let folder: string
let world: World
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

test('whoever watches is told what is new, of everybody or of those whom they name', async () => {
  const [ada] = [await createSigner(world), await createSigner(world)]
  const first = await watch('--state', 'seen')
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^localhost:4400\/transparency has 2 leaves, 2 of them new; it has only grown\.\n/)
  assert.equal(lines(first.stdout).length, 4)
  assert.equal(lines((await watch('--state', 'seen')).stdout).length, 1)

  const next = newSigningPair()
  await ada.rotate(rotationOf(ada.identityId, ada.pair, next))
  await createSigner(world)
  const told = await watch('--state', 'seen', '--identity', ada.identityId)
  assert.match(told.stdout, /4 leaves, 2 of them new/)
  assert.equal(lines(told.stdout).length, 3)
  assert.match(lines(told.stdout)[2] ?? '', new RegExp(`^[23] .* rotated {2}2 {8}${RegExp.escape(next.publicKey)}$`))
})

test('TLG-05 a log that was taken back, rewritten, or is another one is noticed', async () => {
  await watch('--state', 'kept')
  await cp(join(folder, 'kept'), join(folder, 'ahead'))
  const kept = JSON.parse(await readFile(join(folder, 'kept'), 'utf8'))
  const complaint = async (seen: object) => {
    await writeFile(join(folder, 'seen'), JSON.stringify(seen))
    const { code, stdout, stderr } = await watch('--state', 'seen')
    assert.deepEqual([code, stdout], [1, ''])
    assert.equal(await readFile(join(folder, 'seen'), 'utf8'), JSON.stringify(seen), 'what was seen is kept')
    return stderr
  }
  const hash = Buffer.alloc(32).toString('base64')
  assert.match(await complaint({ ...kept, subtrees: [{ level: 8, hash }] }), /has 4 leaves, and had 256/)
  assert.match(await complaint({ ...kept, subtrees: [{ level: 1, hash }] }), /does not go on from what was seen/)
  assert.match(await complaint({ ...kept, subtrees: [{ level: 2, hash }] }), /not those that the log has signed/)
  assert.match(await complaint({ ...kept, publicKey: newSigningPair().publicKey }), /not signed by the key/)
  assert.match(await complaint({ ...kept, origin: 'another/log' }), /this is not the log another\/log/)
  assert.match(await complaint({ ...kept, subtrees: [{ level: 1, hash: 'short' }] }), /does not hold what was seen/)
})
