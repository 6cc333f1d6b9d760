import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createAuthenticator } from '../../server/testing/authenticator.ts'
import { freePorts } from '../../tools/ports.ts'
import { fieldsOf, listOf, textOf } from '../terminal.ts'
import { inherited } from '../testing/environment.ts'

const root = join(import.meta.dirname, '../..')
const dataDir = mkdtempSync(join(tmpdir(), 'countersign-cli-'))
const redirectUri = 'https://shop.example/callback'
let urls: Record<'BASE_URL' | 'AUTH_URL' | 'BUSINESS_URL', string>
let server: ChildProcess

before(async () => {
  const [base, auth, business] = await freePorts(3)
  urls = {
    BASE_URL: `http://localhost:${base}`,
    AUTH_URL: `http://localhost:${auth}`,
    BUSINESS_URL: `http://localhost:${business}`,
  }
  server = await startServer()
})

after(async () => {
  server.kill()
  await once(server, 'exit')
  rmSync(dataDir, { recursive: true })
})

/** The provider as `npm start` runs it, with only its URLs and its folder set; it is listening. */
async function startServer(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['server/main.ts'], {
    cwd: root,
    env: { ...inherited, ...urls, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let words = ''
  const collect = (text: Buffer) => {
    words += text.toString()
    if (words.includes(urls.AUTH_URL)) resolve()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  child.once('exit', () => reject(new Error(`The server did not start:\n${words}`)))
  await promise
  return child
}

type Run = { code: number; stdout: string; stderr: string }

/** Runs the command without a terminal. */
function countersign(words: string[], environment: Record<string, string> = {}): Promise<Run> {
  const env = { ...inherited, BASE_URL: urls.BASE_URL, DATA_DIR: dataDir, ...environment }
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'cli/main.ts'), ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

async function createApp(...flags: string[]): Promise<Record<string, unknown>> {
  const words = ['apps', 'create', '--name', 'Shop', '--redirect-uri', redirectUri, ...flags, '--json']
  const { code, stdout, stderr } = await countersign(words)
  assert.equal(code, 0, stderr)
  return fieldsOf(JSON.parse(stdout))
}

test('a created app is listed and shown, and its secret is printed only once', async () => {
  const created = await countersign(['apps', 'create', '--name', 'Ledger', '--redirect-uri', redirectUri])
  const [clientId = ''] = /app_[0-9a-f]{32}/.exec(created.stdout) ?? []
  const [secret = 'none'] = /cs_[\w-]{20,}/.exec(created.stdout) ?? []
  assert.equal(created.code, 0)
  assert.match(created.stdout, /not be shown again/)
  assert.notEqual(secret, 'none')

  const shown = await countersign(['apps', 'show', clientId])
  const listed = await countersign(['apps', 'list'])
  for (const { code, stdout } of [shown, listed]) {
    assert.equal(code, 0)
    assert.match(stdout, /Ledger/)
    assert.ok(stdout.includes(clientId) && !stdout.includes(secret))
  }
  assert.match(listed.stdout, new RegExp(`^${clientId} +Ledger +confidential +active +everyone `, 'm'))
})

test('every option reaches the app', async () => {
  const about = '--description Sells --website-url https://shop.example --access-token-ttl-seconds 600'
  const access = '--redirect-uri https://shop.example/other --scope openid --scope email --public --alg EdDSA'
  const afterwards = '--post-logout-redirect-uri https://shop.example/bye'
  const { clientId, ...app } = await createApp(...`${access} ${afterwards} ${about}`.split(' '))
  const { stdout } = await countersign(['apps', 'show', textOf(clientId), '--json'])
  const shown = fieldsOf(JSON.parse(stdout))
  assert.equal(app.clientSecret, undefined)
  assert.deepEqual(shown.redirectUris, [redirectUri, 'https://shop.example/other'])
  assert.deepEqual(shown.postLogoutRedirectUris, ['https://shop.example/bye'])
  assert.deepEqual(shown.allowedScopes, ['openid', 'email'])
  assert.equal(shown.public, true)
  assert.equal(shown.idTokenSignedResponseAlg, 'EdDSA')
  assert.equal(shown.description, 'Sells')
  assert.equal(shown.accessTokenTtlSeconds, 600)
})

test('every setting of an app can be set, shown, and changed alone', async () => {
  const settings =
    '--public --require-auth-time --no-id-token-claims --required-claims email --organization-access read'
  const logout = '--backchannel-logout-uri https://shop.example/out --backchannel-logout-session-required'
  const key = 'eyJrdHkiOiJPS1AiLCJjcnYiOiJYMjU1MTkiLCJ4IjoiM3A3YmZYdDl3YlRUVzJIQzdPUTFOei1EUThoYmVHZE5yZngtRkctSUswOCJ9'
  const flags = `${settings} ${logout} --app-key-recipient-jwk ${key} --allow-any-loopback-port`
  const created = await createApp(...flags.split(' '))
  const set = {
    requireAuthTime: true,
    idTokenClaims: false,
    requiredClaims: ['email'],
    organizationAccess: 'read',
    backchannelLogoutUri: 'https://shop.example/out',
    backchannelLogoutSessionRequired: true,
    allowAnyLoopbackPort: true,
  }
  const { clientId } = created
  assert.deepEqual({ ...created, ...set, appKeyRecipientJwk: key }, created)
  const { stdout } = await countersign(['apps', 'show', textOf(clientId)])
  assert.match(stdout, /Organizations +read/)
  assert.match(stdout, /Back-channel logout URI +https:\/\/shop\.example\/out/)

  const change = async (...flags: string[]) => {
    const {
      code,
      stdout: changed,
      stderr,
    } = await countersign(['apps', 'change', textOf(clientId), ...flags, '--json'])
    assert.equal(code, 0, stderr)
    const { updatedAt: _changed, version: _next, ...app } = fieldsOf(JSON.parse(changed))
    return app
  }
  const { updatedAt: _created, version: _first, ...before } = created
  assert.deepEqual(await change('--name', 'Store'), { ...before, name: 'Store' })
  const off = '--no-require-auth-time --id-token-claims --organization-access none --no-allow-any-loopback-port'
  const cleared = ['--required-claims', '', '--backchannel-logout-uri', '', '--app-key-recipient-jwk', '']
  const changed = await change(...off.split(' '), '--no-backchannel-logout-session-required', ...cleared)
  assert.deepEqual(changed, {
    ...{ ...before, name: 'Store', appKeyRecipientJwk: null },
    requireAuthTime: false,
    idTokenClaims: true,
    requiredClaims: [],
    organizationAccess: 'none',
    backchannelLogoutUri: null,
    backchannelLogoutSessionRequired: false,
    allowAnyLoopbackPort: false,
  })
})

test('redirect URIs of an app can be added, removed and replaced', async () => {
  const { clientId } = await createApp()
  const change = async (...flags: string[]) => {
    const { code, stdout, stderr } = await countersign(['apps', 'change', textOf(clientId), ...flags, '--json'])
    return code === 0 ? fieldsOf(JSON.parse(stdout)) : { code, stderr }
  }
  const [second, third] = ['https://shop.example/second', 'https://shop.example/third']
  const added = await change('--add-redirect-uri', second, '--add-redirect-uri', third, '--scope', 'openid')
  assert.deepEqual([added.redirectUris, added.allowedScopes], [[redirectUri, second, third], ['openid']])
  assert.deepEqual((await change('--remove-redirect-uri', redirectUri)).redirectUris, [second, third])
  assert.deepEqual((await change('--redirect-uri', redirectUri)).redirectUris, [redirectUri])
  const bye = 'https://shop.example/bye'
  const afterwards = await change('--add-post-logout-redirect-uri', bye)
  assert.deepEqual([afterwards.redirectUris, afterwards.postLogoutRedirectUris], [[redirectUri], [bye]])

  for (const [flags, why] of [
    [[], /no change given/],
    [['--remove-redirect-uri', third], /is not registered/],
    [['--redirect-uri', third, '--add-redirect-uri', second], /not both/],
    [['--organization-access', 'all'], /Allowed choices/],
  ] as const) {
    const refused = await change(...flags)
    assert.equal(refused.code, 2)
    assert.match(textOf(refused.stderr), why)
  }
  const last = await change('--remove-redirect-uri', redirectUri)
  assert.equal(last.code, 1, 'the API rejects an app without a redirect URI')
})

test('deleting an app requires a confirmation', async () => {
  const { clientId } = await createApp()
  const unrequested = await countersign(['apps', 'delete', textOf(clientId)])
  assert.equal(unrequested.code, 2)
  assert.match(unrequested.stderr, /--yes is required/)
  assert.equal((await countersign(['apps', 'show', textOf(clientId)])).code, 0)

  assert.equal((await countersign(['apps', 'delete', textOf(clientId), '--yes'])).code, 0)
  const gone = await countersign(['apps', 'show', textOf(clientId)])
  assert.equal(gone.code, 1)
  assert.match(gone.stderr, /^error: .+\n$/)
})

test('an app gets a new secret, and is disabled and enabled', async () => {
  const { clientId } = await createApp()
  const rotated = await countersign(['apps', 'rotate-secret', textOf(clientId), '--grace', '60'])
  assert.equal(rotated.code, 0, rotated.stderr)
  assert.match(rotated.stdout, /cs_[\w-]{20,}/)
  assert.match(rotated.stdout, /old secret is valid +until \d{4}-/)
  assert.match((await countersign(['apps', 'rotate-secret', textOf(clientId)])).stdout, /is valid +no longer/)

  await countersign(['apps', 'disable', textOf(clientId)])
  assert.match((await countersign(['apps', 'show', textOf(clientId)])).stdout, /Status +disabled/)
  await countersign(['apps', 'enable', textOf(clientId)])
  assert.match((await countersign(['apps', 'show', textOf(clientId)])).stdout, /Status +active/)
})

test('an app gets a webhook, a test event and a new secret, and removing it requires a confirmation', async (t) => {
  const receiver = createHttpServer((_, response) => response.writeHead(204).end()).listen(0)
  await once(receiver, 'listening')
  t.after(() => receiver.close())
  const address = receiver.address()
  assert.ok(address !== null && typeof address === 'object')
  const url = `http://localhost:${address.port}/hook`
  const clientId = textOf((await createApp()).clientId)
  const webhooks = (...words: string[]) => countersign(['webhooks', ...words])

  const set = await webhooks('set', clientId, url)
  const [secret = 'none'] = /whsec_\S{44}/.exec(set.stdout) ?? []
  assert.match(set.stdout, /not be shown again/)
  const shown = await webhooks('show', clientId)
  assert.ok(shown.stdout.includes(url) && !shown.stdout.includes(secret))

  assert.match((await webhooks('deliveries', clientId)).stdout, /No deliveries yet: countersign webhooks test/)
  const [deliveryId = 'none'] = /^[0-9a-f-]{36}/.exec((await webhooks('test', clientId)).stdout) ?? []
  let listed = await webhooks('deliveries', clientId)
  while (/ waiting /.test(listed.stdout)) listed = await webhooks('deliveries', clientId)
  assert.match(listed.stdout, new RegExp(`${deliveryId} +webhook.test +\\S+ +delivered +1 +204`))

  const again = await webhooks('send-again', clientId, deliveryId)
  assert.match(again.stderr, /^error: Only failed deliveries can be redelivered/)

  const rotated = await webhooks('rotate-secret', clientId, '--grace', '600')
  assert.match(rotated.stdout, /whsec_\S{44}[^]*until 2/)
  const undecided = await webhooks('remove', clientId)
  assert.deepEqual([undecided.code, undecided.stderr.includes('--yes')], [2, true])
  assert.equal((await webhooks('remove', clientId, '--yes')).code, 0)
  assert.match((await webhooks('show', clientId)).stderr, /^error: The app has no webhook/)
})

/** Registers a user at the provider as a browser does; returns the user's request headers. */
async function register(handle: string) {
  const post = async (origin: string, path: string, body: object, headers: Record<string, string> = {}) => {
    const sent = { 'content-type': 'application/json', ...headers }
    const answer = await fetch(`${origin}/api${path}`, { method: 'POST', headers: sent, body: JSON.stringify(body) })
    assert.equal(answer.ok, true, `${path}: ${answer.status}`)
    return fieldsOf(await answer.json())
  }
  const authenticator = createAuthenticator({ origin: urls.AUTH_URL, rpId: 'localhost' })
  const { flowId, options } = await post(urls.BASE_URL, '/auth/register/start', { handle, displayName: handle })
  const { challenge, user } = fieldsOf(options)
  const registering = { id: textOf(fieldsOf(user).id), name: handle, displayName: handle }
  const credential = authenticator.register({ challenge: textOf(challenge), user: registering })
  const registered = await post(urls.BASE_URL, '/auth/register/finish', { flowId, credential })
  const authorization = `Bearer ${textOf(registered.sessionToken)}`
  const [identity] = listOf(registered.identities)
  return {
    makeOrganization: async (name: string) => {
      const body = { name, identityId: fieldsOf(identity).identityId }
      const made = await post(urls.BUSINESS_URL, '/organizations', body, { authorization })
      return textOf(fieldsOf(made.organization).id)
    },
  }
}

test('organizations are listed and shown, suspended and activated', async () => {
  const organizations = (...words: string[]) => countersign(['organizations', ...words])
  assert.match((await organizations('list')).stdout, /^None yet\.$/m)
  const person = await register('overseen-owner')
  const id = await person.makeOrganization('Acme')
  const listed = await organizations('list')
  assert.match(listed.stdout, new RegExp(`^${id} +Acme +acme +active +1$`, 'm'))
  const shown = await organizations('show', id)
  assert.match(shown.stdout, /^Owners +1$[^]*^Sign-in required +no$/m)

  assert.equal((await organizations('suspend', id)).stdout, 'Acme is suspended.\n')
  assert.match((await organizations('show', id)).stdout, /^Status +suspended$/m)
  const activated = await organizations('activate', id, '--json')
  assert.equal(fieldsOf(fieldsOf(JSON.parse(activated.stdout)).organization).status, 'active')
  const unknown = await organizations('show', '0198c0de-0000-7000-8000-000000000000')
  assert.deepEqual([unknown.code, /^error: .+\n$/.test(unknown.stderr)], [1, true])
  assert.equal((await organizations('suspend')).code, 2)
})

test('a resource is created with scopes, listed, changed, disabled and enabled', async () => {
  const clientId = textOf((await createApp()).clientId)
  const resources = (...words: string[]) => countersign(['resources', ...words])
  assert.match((await resources('list', clientId)).stdout, /No resources yet: countersign resources create/)
  const named = ['--key', 'calendar', '--name', 'Calendar', '--audience', 'https://calendar.example']
  const without = await resources('create', clientId, ...named)
  assert.deepEqual([without.code, without.stderr.includes('--scope')], [2, true])

  const scopes = ['--scope', 'events.read See your events', '--scope', 'events.write']
  const created = await resources('create', clientId, ...named, ...scopes)
  assert.match(created.stdout, /^Scope +events\.read See your events\nScope +events\.write$/m)
  const taken = await resources('create', clientId, ...named, ...scopes)
  assert.deepEqual([taken.code, taken.stderr], [1, 'error: resourceKey is already in use.\n'])

  assert.equal((await resources('change', clientId, 'calendar')).code, 2)
  const changed = await resources('change', clientId, 'calendar', '--description', 'What you do.', '--scope', 'read')
  assert.match(changed.stdout, /^Description +What you do\.$[^]*^Scope +read$/m)
  assert.match((await resources('disable', clientId, 'calendar')).stdout, /^calendar is disabled/)
  assert.match((await resources('list', clientId)).stdout, /^calendar +Calendar +\S+ +disabled +read$/m)
  assert.match((await resources('enable', clientId, 'calendar')).stdout, /^calendar is active/)
  const plain = await resources('change', clientId, 'calendar', '--description', '', '--json')
  assert.equal(fieldsOf(JSON.parse(plain.stdout)).description, null)
  assert.match((await resources('enable', clientId, 'none')).stderr, /^error: Resource not found/)
})

test('keys are rotated and listed, and emergency rotation requires a confirmation', async () => {
  const unrequested = await countersign(['keys', 'rotate', '--at-once'])
  assert.equal(unrequested.code, 2)
  assert.match(unrequested.stderr, /needs --yes/)

  const rotated = await countersign(['keys', 'rotate'])
  assert.equal(rotated.code, 0, rotated.stderr)
  const listed = await countersign(['keys', 'list'])
  assert.equal(listed.stdout, rotated.stdout)
  assert.equal(listed.stdout.match(/published/g)?.length, 3)
  assert.equal(listed.stdout.match(/signing/g)?.length, 3)

  const again = await countersign(['keys', 'rotate'])
  assert.deepEqual([again.code, again.stdout], [1, ''])
  assert.equal((await countersign(['keys', 'rotate', '--at-once', '--yes'])).code, 0)
})

test('an error of the server is printed in one line, with its description', async () => {
  const words = ['apps', 'create', '--name', 'Shop', '--redirect-uri', 'no URL']
  const { code, stdout, stderr } = await countersign(words)
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
  assert.match(stderr, /^error: .+\n$/)
})

test('an invalid command exits with 2 and changes nothing', async () => {
  const listed = await countersign(['apps', 'list'])
  const misused = [
    ['apps', 'create', '--name', 'Shop'],
    ['apps', 'create', '--name', 'Shop', '--redirect-uri', redirectUri, '--scope', 'everything'],
    ['apps', 'create', '--name', 'Shop', '--redirect-uri', redirectUri, '--alg', 'none'],
    ['apps', 'remove', 'app_1'],
    ['apps', 'show'],
  ]
  for (const words of misused) assert.equal((await countersign(words)).code, 2, words.join(' '))
  assert.equal((await countersign(['apps', 'list'])).stdout, listed.stdout)
})

test('a wrong or missing admin token gives one error line, and the token is never sent without TLS', async () => {
  const wrong = await countersign(['apps', 'list'], { ADMIN_TOKEN: 'x'.repeat(43) })
  const none = await countersign(['apps', 'list'], { DATA_DIR: join(dataDir, 'nowhere') })
  const inTheClear = await countersign(['apps', 'list'], { BASE_URL: 'http://id.example.com' })
  for (const { code, stderr } of [wrong, none, inTheClear]) {
    assert.equal(code, 1)
    assert.match(stderr, /^error: .+\n$/)
  }
  assert.match(none.stderr, /ADMIN_TOKEN/)
  assert.match(inTheClear.stderr, /https:\/\//)
})

test('doctor finds no problem with a new provider', async () => {
  const { code, stdout } = await countersign(['doctor', '--json'])
  const { healthy, findings } = fieldsOf(JSON.parse(stdout))
  const names = listOf(findings).map((finding) => textOf(fieldsOf(finding).check))
  assert.deepEqual(names, ['server', 'database', 'clock', 'hosts', 'discovery', 'signing keys', 'admin token'])
  assert.deepEqual([code, healthy, stdout.includes(`${urls.BUSINESS_URL} are on one site`)], [0, true, true], stdout)
})

test('doctor names each problem and its fix', async () => {
  const away = await countersign(['doctor'], { BASE_URL: 'http://localhost:9' })
  assert.equal(away.code, 1)
  assert.match(away.stdout, /✖ server .*\n +Start it/)

  const wrongToken = await countersign(['doctor'], { ADMIN_TOKEN: 'x'.repeat(43) })
  assert.equal(wrongToken.code, 1)
  assert.match(wrongToken.stdout, /✔ signing keys/)
  assert.match(wrongToken.stdout, /✖ admin token .*\n +Set ADMIN_TOKEN/)

  const wrongIssuer = await countersign(['doctor'], { AUTH_URL: urls.AUTH_URL.replace('localhost', '127.0.0.1') })
  assert.equal(wrongIssuer.code, 1)
  assert.match(wrongIssuer.stdout, /✖ hosts .*passkeys need a domain/)
})
