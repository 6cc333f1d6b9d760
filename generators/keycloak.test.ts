import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { ResponseOf } from '@countersign/protocol/api'
import { decodeJwt } from 'jose'
import { ask, createRemotePerson } from '../server/testing/remote-signer.ts'
import { serveHere } from '../server/testing/service-here.ts'
import { freePorts, type Served } from '../server/testing/service.ts'

const run = promisify(execFile)
const version = '26.7.3'
const place = `org/keycloak/keycloak-quarkus-dist/${version}/keycloak-quarkus-dist-${version}.zip`
const archive = {
  url: `https://repo1.maven.org/maven2/${place}`,
  sha256: '27a6535553c3cdcd083872ba40629efafb3475e3b758e0c6f691395561dd0f1f',
}
const startSeconds = 240
const password = 'a password for the test'
const client = { clientId: 'countersign', clientSecret: 'a secret of acme' }

/** A realm with a user in one of two groups, and a client whose ID tokens name the groups. */
const realm = {
  realm: 'acme',
  enabled: true,
  sslRequired: 'none',
  groups: [{ name: 'engineering' }, { name: 'sales' }],
  users: [
    {
      ...{ username: 'ann', enabled: true, email: 'ann@acme.example', emailVerified: true },
      ...{ firstName: 'Ann', lastName: 'Example', groups: ['/engineering'] },
      credentials: [{ type: 'password', value: password }],
    },
  ],
  clients: [
    {
      ...{ clientId: client.clientId, secret: client.clientSecret, redirectUris: ['http://localhost:*'] },
      protocolMappers: [
        {
          ...{ name: 'groups', protocol: 'openid-connect', protocolMapper: 'oidc-group-membership-mapper' },
          config: { 'claim.name': 'groups', 'full.path': 'true', 'id.token.claim': 'true' },
        },
      ],
    },
  ],
}

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>
let service: Served
let keycloak: ChildProcess | undefined
let issuer: string
before(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'countersign-keycloak-'))
  const [port = 0, managementPort = 0] = await freePorts(2)
  issuer = `http://127.0.0.1:${port}/realms/${realm.realm}`
  keycloak = await startKeycloak({ port, managementPort })
  service = await serveHere()
})
after(async () => {
  keycloak?.kill('SIGKILL')
  await service.close()
  await folder[Symbol.asyncDispose]()
})

async function startKeycloak({ port, managementPort }: Record<'port' | 'managementPort', number>) {
  const response = await fetch(archive.url)
  assert.ok(response.ok, `${archive.url} answered ${response.status}`)
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.equal(createHash('sha256').update(bytes).digest('hex'), archive.sha256)
  const file = join(folder.path, 'keycloak.zip')
  await writeFile(file, bytes)
  await run('python3', ['-m', 'zipfile', '-e', file, folder.path])
  const home = join(folder.path, `keycloak-${version}`)
  await mkdir(join(home, 'data', 'import'), { recursive: true })
  await writeFile(join(home, 'data', 'import', 'acme.json'), JSON.stringify(realm))
  const options = [
    ...['start-dev', '--import-realm', '--db=dev-mem', '--http-host=127.0.0.1'],
    ...[`--http-port=${port}`, `--http-management-port=${managementPort}`],
  ]
  const log = join(folder.path, 'log')
  const script = ['-c', `exec bash "$0" "$@" > "${log}" 2>&1`, join(home, 'bin', 'kc.sh'), ...options]
  const started = spawn('bash', script, { stdio: 'ignore', env: { ...process.env, JAVA_OPTS_APPEND: '-Xmx512m' } })
  const deadline = performance.now() + startSeconds * 1000
  while (!(await isReady(`${issuer}/.well-known/openid-configuration`))) {
    if (started.exitCode !== null || performance.now() > deadline)
      throw new Error(`Keycloak did not start: ${await readFile(log, 'utf8')}`)
    await wait(200)
  }
  return started
}

/** Checks whether a server listens: Keycloak logs it before it answers. */
async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

/** A browser that stores cookies by host, and follows redirects until a page. */
function openBrowser() {
  const jar = new Map<string, Map<string, string>>()
  const cookiesOf = (url: string) => jar.getOrInsert(new URL(url).host, new Map<string, string>())
  async function go(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...cookiesOf(url)].map((pair) => pair.join('=')).join('; ')
    const headers = { ...Object.fromEntries(new Headers(init.headers)), cookie, accept: 'text/html' }
    const response = await fetch(url, { redirect: 'manual', ...init, headers })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookiesOf(url).set(name, value)
    }
    const location = response.headers.get('location')
    const next = location === null ? undefined : new URL(location, url).href
    return next === undefined || next.startsWith(`${service.authUrl}/`) ? response : go(next)
  }
  return {
    go,
    bring: (token: string) => void cookiesOf(service.baseUrl).set('countersign', token),
    cookies: (url: string) => [...cookiesOf(url)].map((pair) => pair.join('=')).join('; '),
  }
}

type Business = { connection: { connectionId: string } }
type Answer = ResponseOf<'POST /api/oauth/authorize'>
type Tokens = { id_token: string }

test('CLI-19 a group of a real Keycloak arrives at an app as a role', async () => {
  const owner = await createRemotePerson(service, 'owner')
  const { headers, identityId } = owner
  const business = { baseUrl: service.businessUrl }
  type Made = { organization: { id: string; slug: string } }
  const { organization } = await ask<Made>(business, '/api/organizations', {
    headers,
    json: { name: 'Acme', identityId },
  })
  const path = `/api/organizations/${organization.id}/sso-connections`
  const oidc = { issuer, ...client }
  const { connection } = await ask<Business>(business, path, { headers, json: { name: 'Keycloak', oidc } })
  const group = `org:${organization.slug}:engineers`
  const groupRules = [{ claim: 'groups', value: '/engineering', group }]
  await ask(business, `${path}/${connection.connectionId}`, { method: 'PATCH', headers, json: { groupRules } })

  const app = await ask<ResponseOf<'POST /api/admin/apps'>>(service, '/api/admin/apps', {
    headers: service.admin,
    json: {
      name: 'Builds',
      redirectUris: ['https://builds.example/callback'],
      allowedScopes: ['openid', 'groups', 'roles'],
    },
  })
  const roles = {
    roles: [{ key: 'builder', displayName: 'Builder' }],
    roleAssignments: [{ role: 'builder', groups: [group], identities: [] }],
  }
  const put = { method: 'PUT', headers: service.admin, json: roles } as const
  await ask(service, `/api/admin/apps/${app.clientId}/roles`, put)

  const browser = openBrowser()
  const page = await browser.go(`${service.baseUrl}/api/sso/${connection.connectionId}/start`)
  const [, action = ''] = /<form[^>]*action="([^"]+)"/.exec(await page.text()) ?? []
  const arrived = await browser.go(action.replaceAll('&amp;', '&'), {
    method: 'POST',
    body: new URLSearchParams({ username: 'ann', password }),
  })
  const flowId = new URL(arrived.headers.get('location') ?? '').searchParams.get('flow')
  browser.bring(headers.authorization.replace('Bearer ', ''))
  await ask(service, `/api/sso/arrivals/${flowId}/link`, {
    headers: { cookie: browser.cookies(service.baseUrl), origin: service.authUrl },
    json: { identityId },
  })

  const redirectUri = 'https://builds.example/callback'
  const requested = { clientId: app.clientId, redirectUri, scope: 'openid groups roles', identityId }
  const { redirectUrl } = await ask<Answer>(service, '/api/oauth/authorize', { headers, json: requested })
  const tokens = await ask<Tokens>(service, '/api/oauth/token', {
    json: {
      grant_type: 'authorization_code',
      code: new URL(redirectUrl).searchParams.get('code'),
      redirect_uri: redirectUri,
      client_id: app.clientId,
      client_secret: app.clientSecret,
    },
  })
  const claims = decodeJwt(tokens.id_token)
  assert.deepEqual([claims['groups'], claims['roles']], [[group], ['builder']])
})
