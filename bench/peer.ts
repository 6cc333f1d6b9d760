import { fork } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { tokenRequest, userinfoRequest, type Implementation } from './implementation.ts'
import { redirectUri, type Ready } from './peers/order.ts'

/** Another provider in its own process: a file of `peers/`, which has its own packages. */
export async function startPeer(
  name: string,
  file: string,
  environment: Record<string, string>,
): Promise<Implementation> {
  const child = fork(join(import.meta.dirname, 'peers', file), {
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
    keySet: { method: 'GET', url: ready.keySet },
    discovery: { method: 'GET', url: ready.discovery },
    async [Symbol.asyncDispose]() {
      child.disconnect()
    },
  }
}
