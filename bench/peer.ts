import { execFileSync, fork } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Cluster } from '../tools/postgres.ts'
import { tokenRequest, userinfoRequest, type Implementation } from './implementation.ts'
import { redirectUri, type Ready } from './peers/order.ts'

const folder = join(import.meta.dirname, 'peers')

/** Starts the other providers. Their packages are installed at the first time: the product does not need them. */
export async function startPeers(durable: Cluster): Promise<Implementation[]> {
  if (!existsSync(join(folder, 'node_modules')))
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--workspaces=false'], { cwd: folder, stdio: 'inherit' })
  return [
    await startPeer('oidc-provider', 'oidc-provider.ts', {}),
    await startPeer('better-auth', 'better-auth.ts', { DATABASE_URL: await newDatabase(durable, 'better_auth') }),
  ]
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
    pid: child.pid ?? 0,
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
