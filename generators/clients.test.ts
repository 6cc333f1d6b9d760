import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { openApiDocument } from '../server/platform/process/openapi.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const oapiCodegen = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>
const within = (...names: string[]) => join(folder.path, ...names)
const python = () => within('venv/bin/python')

before(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'countersign-clients-'))
  const host = (name: string) => new URL(`https://${name}.example.com`)
  const hosts = { baseUrl: host('api'), authUrl: host('id'), businessUrl: host('business') }
  const document = openApiDocument({ ...hosts, developerPortal: true, demo: true })
  await writeFile(within('openapi.json'), JSON.stringify(document))
  await run('python3', ['-m', 'venv', within('venv')])
  await run(python(), ['-m', 'pip', 'install', '--quiet', '-r', join(import.meta.dirname, 'requirements.txt')])
})
after(() => folder[Symbol.asyncDispose]())

test('CLI-01 oapi-codegen generates a Go client that compiles', async () => {
  const module = await makeModule('oapi', 'example.com/oapi')
  const options = ['run', oapiCodegen, '-generate', 'types,client', '-package', 'client', '-o', 'client.go']
  await go(module, ...options, within('openapi.json'))
  await build(module)
  const client = await readFile(join(module, 'client.go'), 'utf8')
  assert.match(client, /^type App struct/m)
  assert.match(client, /\) CreateAppWithResponse\(/)
})

test('CLI-02 openapi-typescript generates types that compile', async () => {
  const generator = join(import.meta.dirname, 'node_modules/.bin/openapi-typescript')
  await run(generator, [within('openapi.json'), '--output', within('types.ts')])
  const use = "import type { components } from './types.ts'\nexport type App = components['schemas']['App']\n"
  await writeFile(within('use.ts'), use)
  await check(within('use.ts'))
})

test('CLI-03 openapi-generator generates a Go client that compiles', async () => {
  const module = await generate('go', '--git-host=example.com', '--git-user-id=countersign', '--git-repo-id=client')
  await build(module)
  assert.match(await readFile(join(module, 'model_app.go'), 'utf8'), /^type App struct/m)
})

test('CLI-04 openapi-generator generates a TypeScript client that compiles', async () => {
  const output = await generate('typescript-fetch')
  await check(join(output, 'index.ts'))
  assert.ok((await readdir(join(output, 'models'))).includes('App.ts'))
})

test('CLI-05 openapi-generator generates a Python client whose every module loads', async () => {
  const output = await generate('python', '--package-name=countersign_client')
  await run(python(), ['-m', 'pip', 'install', '--quiet', output])
  const loadAll = [
    'import importlib, pkgutil, countersign_client as client',
    'for module in pkgutil.walk_packages(client.__path__, "countersign_client."): importlib.import_module(module.name)',
    'print(client.AppInput(name="Till", redirectUris=["https://till.example/callback"]).to_json())',
  ].join('\n')
  const { stdout } = await run(python(), ['-c', loadAll], { cwd: folder.path })
  assert.deepEqual(JSON.parse(stdout), { name: 'Till', redirectUris: ['https://till.example/callback'] })
})

/** Runs openapi-generator, and returns the folder of the client. */
async function generate(generator: string, ...options: string[]): Promise<string> {
  const output = within(generator)
  const given = ['generate', '-g', generator, '-i', within('openapi.json'), '-o', output, ...options]
  await run(within('venv/bin/openapi-generator-cli'), given, { maxBuffer: 64 * 1024 ** 2 })
  return output
}

async function makeModule(name: string, path: string): Promise<string> {
  const module = within(name)
  await mkdir(module)
  await go(module, 'mod', 'init', path)
  return module
}

/** Fetches what the generated code imports, and compiles all of it. */
async function build(module: string): Promise<void> {
  await go(module, 'mod', 'tidy')
  await go(module, 'build', './...')
}

function go(cwd: string, ...options: string[]) {
  return run('go', options, { cwd, env: { ...process.env, GOFLAGS: '-mod=mod' } })
}

/** Type-checks a module and all that it imports. */
async function check(path: string): Promise<void> {
  const options = ['--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--module', 'esnext']
  const resolution = ['--moduleResolution', 'bundler', '--allowImportingTsExtensions', '--ignoreConfig']
  await run(join(root, 'node_modules/.bin/tsc'), ['--noEmit', ...options, ...resolution, path]).catch(
    ({ stdout }: { stdout: string }) => assert.fail(stdout.slice(0, 4000)),
  )
}
