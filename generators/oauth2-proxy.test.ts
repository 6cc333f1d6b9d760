import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { ResponseOf } from '@countersign/protocol/api'
import { ask, createRemotePerson } from '../server/testing/remote-signer.ts'
import { serveHere } from '../server/testing/service-here.ts'
import { freePorts, type Served } from '../server/testing/service.ts'

const run = promisify(execFile)
const proxyModule = 'github.com/oauth2-proxy/oauth2-proxy/v7@v7.15.6'

type App = ResponseOf<'POST /api/admin/apps'>
type Group = ResponseOf<'POST /api/admin/groups'>
type Answer = ResponseOf<'POST /api/oauth/authorize'>

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>
let service: Served
let proxy: ChildProcess | undefined
let address: string
before(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'countersign-oauth2-proxy-'))
  // Compiled without optimization: it serves a few requests.
  const options = ['install', '-gcflags=all=-N -l', '-ldflags=-s -w', proxyModule]
  await run('go', options, { env: { ...process.env, GOBIN: folder.path }, maxBuffer: 64 * 1024 ** 2 })
  service = await serveHere()
  const [port] = await freePorts(1)
  address = `http://127.0.0.1:${port}`
  const app = await admin<App>('/api/admin/apps', {
    name: 'Dashboards',
    redirectUris: [`${address}/oauth2/callback`],
    allowedScopes: ['openid', 'profile', 'groups'],
    groupsClaim: { include: 'all' },
  })
  proxy = await startProxy(app)
})
after(async () => {
  proxy?.kill()
  await service.close()
  await folder[Symbol.asyncDispose]()
})

function admin<Body>(path: string, json: object): Promise<Body> {
  return ask<Body>(service, path, { headers: service.admin, json })
}

async function startProxy({ clientId, clientSecret = '' }: App): Promise<ChildProcess> {
  const options = {
    'http-address': address.replace('http://', ''),
    provider: 'oidc',
    'oidc-issuer-url': service.authUrl,
    'client-id': clientId,
    'client-secret': clientSecret,
    'redirect-url': `${address}/oauth2/callback`,
    'cookie-secret': randomBytes(16).toString('hex'),
    'cookie-secure': 'false',
    'code-challenge-method': 'S256',
    'email-domain': '*',
    'oidc-email-claim': 'sub',
    scope: 'openid profile groups',
    'oidc-groups-claim': 'groups',
    'allowed-group': 'staff',
    'skip-provider-button': 'true',
    upstream: 'static://200',
  }
  const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const started = spawn(join(folder.path, 'oauth2-proxy'), words, { stdio: ['ignore', 'ignore', 'inherit'] })
  while (!(await isReady(`${address}/ping`))) {
    if (started.exitCode !== null) throw new Error('oauth2-proxy ended')
    await wait(50)
  }
  return started
}

/** Checks whether a server listens: oauth2-proxy does not log it. */
async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

/** Takes a user through the sign-in as a browser does: returns the status of the page behind the proxy. */
async function visit({ headers, identityId }: Awaited<ReturnType<typeof createRemotePerson>>): Promise<number> {
  const cookies = new Map<string, string>()
  const get = async (url: string) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    return response
  }
  const authorization = new URL((await get(`${address}/dashboards`)).headers.get('location') ?? '')
  assert.equal(authorization.origin + authorization.pathname, `${service.authUrl}/signin`)
  const requested = Object.fromEntries(authorization.searchParams)
  const json = {
    clientId: requested['client_id'],
    redirectUri: requested['redirect_uri'],
    scope: requested['scope'],
    state: requested['state'],
    nonce: requested['nonce'],
    codeChallenge: requested['code_challenge'],
    codeChallengeMethod: requested['code_challenge_method'],
    identityId,
  }
  const { redirectUrl } = await ask<Answer>(service, '/api/oauth/authorize', { headers, json })
  const returned = await get(redirectUrl)
  if (returned.status !== 302) return returned.status
  return (await get(address + returned.headers.get('location'))).status
}

test('CLI-18 oauth2-proxy admits the members of a group, and no one else', async () => {
  const member = await createRemotePerson(service)
  const other = await createRemotePerson(service)
  for (const [key, { identityId }] of [
    ['staff', member],
    ['visitors', other],
  ] as const) {
    const { groupId } = await admin<Group>('/api/admin/groups', { key, displayName: key })
    await admin(`/api/admin/groups/${groupId}/members/batch`, { add: [identityId] })
  }
  assert.equal(await visit(member), 200)
  assert.equal(await visit(other), 403)
})
