import { execFileSync, fork, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { freePorts } from '../server/testing/service.ts'
import type { Cluster } from '../tools/postgres.ts'
import { findPrograms } from '../tools/program.ts'
import { tokenRequest, userinfoRequest, type Implementation } from './implementation.ts'
import { redirectUri, type Ready } from './peers/order.ts'

const folder = join(import.meta.dirname, 'peers')

/**
 * Starts the other providers. Their packages are installed at the first time: the product does not need them. Hydra is
 * left out where it cannot be compiled.
 */
export async function startPeers(durable: Cluster): Promise<Implementation[]> {
  if (!existsSync(join(folder, 'node_modules')))
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--workspaces=false'], { cwd: folder, stdio: 'inherit' })
  return [
    await startPeer('oidc-provider', 'oidc-provider.ts', {}),
    await startPeer('better-auth', 'better-auth.ts', { DATABASE_URL: await newDatabase(durable, 'better_auth') }),
    ...(compileHydra() ? [await startHydra(await newDatabase(durable, 'hydra'))] : []),
  ]
}

/** Compiles Hydra, which takes minutes at the first time. Returns false if that fails, and says why in one line. */
function compileHydra(): boolean {
  const cwd = join(folder, 'hydra')
  const leaveOut = (reason: string) => {
    process.stderr.write(`Hydra is left out: ${reason}\n`)
    return false
  }
  const [go] = findPrograms('go', ['/usr/local/go/bin'])
  if (go === undefined) return leaveOut('Go is not installed')
  process.stderr.write('Hydra is compiled\n')
  const build = ['build', '-o', 'hydra', 'github.com/ory/hydra/v2']
  const { status, stderr } = spawnSync(go, build, { cwd, encoding: 'utf8' })
  return status === 0 || leaveOut(stderr.trim().split('\n').at(-1) ?? '')
}

async function startHydra(database: string): Promise<Implementation> {
  const [publicPort, adminPort] = await freePorts(2)
  return startPeer('Hydra', 'hydra.ts', {
    DSN: `${database}?sslmode=disable&max_conns=12&max_idle_conns=12`,
    SERVE_PUBLIC_PORT: String(publicPort),
    SERVE_ADMIN_PORT: String(adminPort),
  })
}

/** Creates a database on the server, and returns its URL. */
export async function newDatabase({ url }: Cluster, name: string): Promise<string> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}

/** Another provider in its own process: a file of `peers/`. */
async function startPeer(name: string, file: string, environment: Record<string, string>): Promise<Implementation> {
  const child = fork(join(folder, file), {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${name} ended`)))
  ended.catch(() => {})
  const said = async <Message>(): Promise<Message> => {
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message as Message
  }
  const ready = await said<Ready>()
  const credentials = { client_id: ready.clientId, client_secret: ready.clientSecret }

  return {
    name,
    pid: ready.pid ?? child.pid ?? 0,
    async codeGrants(count) {
      const verifiers = Array.from({ length: count }, () => randomBytes(32).toString('base64url'))
      child.send(verifiers.map((verifier) => createHash('sha256').update(verifier).digest('base64url')))
      const codes = await said<string[]>()
      return verifiers.map((verifier, index) =>
        tokenRequest(ready.token, {
          grant_type: 'authorization_code',
          code: codes[index] ?? '',
          redirect_uri: redirectUri,
          code_verifier: verifier,
          ...credentials,
        }),
      )
    },
    refresh: ({ refreshToken }) =>
      tokenRequest(ready.token, { grant_type: 'refresh_token', refresh_token: refreshToken, ...credentials }),
    userinfo: (tokens) => userinfoRequest(ready.userinfo, tokens),
    introspection: ({ accessToken }) => tokenRequest(ready.introspection, { token: accessToken, ...credentials }),
    keySet: { method: 'GET', url: ready.keySet },
    discovery: { method: 'GET', url: ready.discovery },
    async [Symbol.asyncDispose]() {
      child.disconnect()
    },
  }
}
