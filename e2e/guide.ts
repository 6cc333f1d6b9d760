import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Served } from '../server/testing/service.ts'

const root = join(import.meta.dirname, '..')

/** How a framework would run the sample, where that is more than to start its file. */
type Host = { path: string; code: string }

/**
 * The app of a quick start, as its reader would have it: registered by the command that the guide shows, its files
 * written out of the page into a folder of their own, and its process listening.
 */
export async function openGuide(service: Served, name: string, host?: Host) {
  const guide = await readFile(join(root, `docs/guides/${name}.md`), 'utf8')
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const { clientId, clientSecret } = await register(service, guide, origin)

  const { directory, remove } = await layOut(guide, host)
  const app = await run(directory, host?.path ?? 'app.mjs', {
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    SESSION_SECRET: 'a-session-secret-for-tests-of-32-characters',
    ISSUER: service.authUrl,
    APP_URL: origin,
    PORT: String(port),
  })
  return {
    origin,
    async close() {
      await app.close()
      await remove()
    },
  }
}

/** The files that a guide shows, in a folder of their own. */
export async function layOut(guide: string, host?: Host) {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-guide-'))
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  await writeFile(join(directory, 'package.json'), '{"type":"module"}')
  const files = [...filesOf(guide), ...(host ? [host] : [])]
  for (const { path, code } of files) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), code)
  }
  return { directory, remove: () => rm(directory, { recursive: true }) }
}

/** An app of `examples/` as its README starts it, registered by the command that stands there. */
export async function openExample(service: Served, name: string, environment: Record<string, string> = {}) {
  const directory = join(root, 'examples', name)
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const { clientId, clientSecret } = await register(
    service,
    await readFile(join(directory, 'README.md'), 'utf8'),
    origin,
  )
  const { close } = await run(directory, 'main.js', {
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    BASE_URL: service.baseUrl,
    ISSUER: service.authUrl,
    APP_URL: origin,
    PORT: String(port),
    ...environment,
  })
  return { origin, clientId, close }
}

/** A file of an app as a process of its own; resolves when it listens at the `APP_URL` of its environment. */
export async function run(directory: string, file: string, environment: Record<string, string>) {
  const app = spawn(process.execPath, [file], { cwd: directory, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  await listening(app, environment['APP_URL'] ?? '')
  return {
    stdout: app.stdout,
    async close() {
      if (app.exitCode !== null || app.signalCode !== null) return
      app.kill()
      await once(app, 'exit')
    },
  }
}

/** The code blocks that name a file. */
function filesOf(guide: string): { path: string; code: string }[] {
  const blocks = [...guide.matchAll(/^```js (\S+)\n([\s\S]*?)^```$/gm)]
  if (blocks.length === 0) throw new Error('The guide has no code block that names a file')
  return blocks.map(([, path = '', code = '']) => ({ path, code }))
}

async function register(service: Served, guide: string, origin: string) {
  const create = String.raw`^npx --no-install countersign apps create --name '(.+)' --redirect-uri (\S+)`
  const afterwardsToo = String.raw`(?: \\\n +(--post-logout-redirect-uri) (\S+))?(?: (--e2ee))?$`
  const command = new RegExp(create + afterwardsToo, 'm').exec(guide)
  const [, name = '', redirectUri = '', ...afterwards] = command ?? []
  if (!command) throw new Error('The guide does not show how the app is registered')
  const words = ['apps', 'create', '--name', name, '--redirect-uri', redirectUri, ...afterwards.filter(Boolean)]
  const here = words.map((word) => word.replace(/http:\/\/localhost:300\d/, origin))
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'cli/main.ts'), '--json', ...here], {
    env: service.settings,
  })
  return JSON.parse(stdout) as { clientId: string; clientSecret: string }
}

/** Resolves when the app answers; fails with what it said where it ends before. */
async function listening(app: ChildProcess, origin: string): Promise<void> {
  let words = ''
  for (const stream of [app.stdout, app.stderr]) stream?.on('data', (text: Buffer) => (words += text.toString()))
  const { promise: ended, reject } = Promise.withResolvers<never>()
  app.once('exit', (code) => reject(new Error(`The app of the guide ended with ${code}:\n${words}`)))
  // When the test ends it, nobody waits for this any more.
  ended.catch(() => undefined)
  try {
    await Promise.race([ended, answers(origin)])
  } catch (error) {
    app.kill()
    throw error
  }
}

async function answers(origin: string): Promise<void> {
  const deadline = AbortSignal.timeout(10_000)
  for (;;) {
    deadline.throwIfAborted()
    const answer = await fetch(origin).catch(() => undefined)
    if (answer) return
    // It says nothing when it listens: the code is what a reader would copy, and no more.
    await pause(50)
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0)
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}
