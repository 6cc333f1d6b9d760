/**
 * `npm run dev`: the service with its pages from their sources. Vite runs in this process, on the ports of the service
 * and under its content security policy. An edited style is replaced in place; any other edit reloads the open pages.
 * `node --watch` restarts the process after an edit of the server, and the open pages reload then.
 */
// Must be the first imports, as in server/main.ts.
import '../server/egress-guard.ts'
import '../server/thread-pool.ts'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { createServer as createVite, type Plugin, type ViteDevServer } from 'vite'
import { start } from '../server/app.ts'
import { announce } from '../server/banner.ts'
import { ConfigError, loadConfig, type Config } from '../server/platform/config/config.ts'
import { createPages, type PageAssets } from '../server/platform/http/page.ts'
import { buildHelp } from '../web/help/build.ts'
import { endingSignals } from './postgres.ts'

const root = join(import.meta.dirname, '..')
const web = join(root, 'web')
const base = '/assets/'
const drainMilliseconds = 1000
/** The service closes a connection on which it has sent nothing for 20 seconds. */
const keepAliveMilliseconds = 5000

/** It never listens. Vite takes the WebSocket connections that the servers of the product pass on to it. */
const upgrades = createServer()

/**
 * Vite's client waits in a worker until a restarted server answers, and the policy permits no worker. Without
 * `SharedWorker` the client waits in the page.
 */
const waitInPage: Plugin = {
  name: 'wait-in-page',
  transform(code, id) {
    return id.endsWith('/vite/dist/client/client.mjs') ? `const SharedWorker = undefined;${code}` : undefined
  },
}

/** Of what the help pages load besides the files of Vite. */
const mediaTypes: Record<string, string> = { '.json': 'application/json', '.svg': 'image/svg+xml', '.png': 'image/png' }

try {
  await serve(loadConfig(process.env))
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}

async function serve(config: Config): Promise<void> {
  const styleNonce = randomBytes(16).toString('base64')
  const vite = await openVite(config, styleNonce)
  const running = await start(config, createPages(config, assetsOf(vite, styleNonce)))
  for (const server of running.servers)
    server.on('upgrade', (request, socket, head) => {
      if (!upgrades.emit('upgrade', request, socket, head)) socket.destroy()
    })
  const keepingAlive = setInterval(() => vite.ws.send('countersign:alive'), keepAliveMilliseconds)
  const end = async () => {
    clearInterval(keepingAlive)
    await vite.close()
    await running.stop(drainMilliseconds)
    process.exit(0)
  }
  for (const signal of endingSignals) process.once(signal, () => void end())
  process.stdout.write(announce(config, running, process.stdout.isTTY))
}

function openVite({ baseUrl, authUrl, businessUrl }: Config, cspNonce: string): Promise<ViteDevServer> {
  return createVite({
    root: web,
    base,
    configFile: false,
    envDir: false,
    publicDir: false,
    appType: 'custom',
    logLevel: 'warn',
    clearScreen: false,
    cacheDir: join(root, 'node_modules/.cache/vite'),
    html: { cspNonce },
    plugins: [waitInPage],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    // Found before the first request, because a dependency found later reloads the page.
    optimizeDeps: { entries: ['pages/*/main.tsx'] },
    server: {
      middlewareMode: true,
      ws: { server: upgrades },
      cors: false,
      allowedHosts: [baseUrl, authUrl, businessUrl].map(({ hostname }) => hostname),
      // The data directory is in the same folder and contains the admin token and the secret key.
      fs: { allow: ['web', 'protocol/src', 'keys/src', 'node_modules'].map((folder) => join(root, folder)) },
    },
  })
}

function assetsOf(vite: ViteDevServer, styleNonce: string): PageAssets {
  const filesOf = (page: string) => ({ script: `${base}pages/${page}/main.tsx`, imports: [], styles: [], fonts: [] })
  // Drawn when the service starts: an edited document is shown after a restart.
  const help = buildHelp({ help: { ...filesOf('help'), styles: [`${base}components/styles.css`] } })
  return {
    styleNonce,
    filesOf,
    async readHelp(file) {
      const found = help.files.find(({ path }) => path === `help/${file}`)
      if (!found) throw new Error(`web/help builds no ${file}`)
      return String(found.content)
    },
    mountOn(host) {
      for (const { path, content } of help.assets)
        host.get(`/${path}`, (_request, reply) => reply.type(mediaTypes[extname(path)] ?? '').send(content))
      host.get(`${base}*`, (request, reply) => {
        // Vite writes the response itself, so no hook of the host releases the request.
        host.release(request)
        reply.hijack()
        vite.middlewares(request.raw, reply.raw, () => reply.raw.writeHead(404).end())
      })
    },
  }
}
