import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import commandManifest from '../package.json' with { type: 'json' }

const root = join(import.meta.dirname, '../..')
const packages = join(root, 'node_modules')
const folder = join(packages, '.countersign')

test('SUP-11 the command stores compiled code beside the source, as protected as that, and nowhere else', async (t) => {
  const elsewhere = await mkdtemp(join(tmpdir(), 'countersign-elsewhere-'))
  t.after(() => rm(elsewhere, { recursive: true }))
  const env: Record<string, string> = { PATH: process.env['PATH'] ?? '' }
  for (const name of ['HOME', 'TMPDIR', 'XDG_CACHE_HOME']) {
    env[name] = join(elsewhere, name)
    await mkdir(env[name])
  }
  const program = join(root, 'cli', commandManifest.bin.countersign)
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--version'], { env, cwd: elsewhere })

  assert.equal(stdout, `${commandManifest.version}\n`)
  assert.deepEqual((await readdir(elsewhere, { recursive: true })).toSorted(), ['HOME', 'TMPDIR', 'XDG_CACHE_HOME'])
  const [source, compiled] = [await stat(packages), await stat(folder)]
  assert.equal(compiled.uid, source.uid)
  assert.equal(compiled.mode & ~source.mode & 0o022, 0)
  for (const version of await readdir(folder))
    assert.equal((await stat(join(folder, version))).mode & ~source.mode & 0o022, 0)
})

test('SUP-11 npm start stores compiled code in the same folder', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  assert.match(scripts.start, / && NODE_COMPILE_CACHE=node_modules\/\.countersign exec node /)
})
