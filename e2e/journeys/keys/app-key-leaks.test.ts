import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { sql } from 'kysely'
import { reopenStorage } from '../../../server/testing/database.ts'
import type { Service } from '../../../server/testing/service.ts'
import { keyIn, openKeyedApp, type KeyedApp } from '../../apps/keyed-app.ts'
import { openMasterKeyBytes, overhearPrf, secretsOfCode } from '../../fixtures/key-leak-detection.ts'
import { searcherOf, type Secret } from '../../fixtures/signing-keys.ts'
import { openStageWithProcess, type ProcessStage } from '../../fixtures/environment.ts'

let stage: ProcessStage
let app: KeyedApp
before(async () => {
  stage = await openStageWithProcess({ LOG_LEVEL: 'trace' }, { embedded: true })
  app = await openKeyedApp(stage.service)
})
after(async () => {
  await app.close()
  await stage.close()
})

test('E2E-01 E2E-08 the service receives, stores, returns and logs none of the keys of a journey', async () => {
  const { service } = stage
  const ada = await stage.invite()
  const startedAt = Date.now()
  const prfOutputs = await overhearPrf(ada)
  const answered = recordAnswers(ada.page)
  const tokens: string[] = []
  const redeemed = async ({ query }: { query: URLSearchParams }) => {
    const answer = await app.redeem(query.get('code') ?? '')
    assert.equal(answer.status, 200)
    tokens.push(await answer.text())
  }
  await ada.page.goto(`${service.authUrl}/register`)
  const code = await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.page.waitForURL(/\/account/)
  const masterKey = await openMasterKeyBytes(ada, service, code)

  const fragments: string[] = []
  for (const [action, scope] of [
    ['approve', 'openid profile'],
    ['unlock', 'openid profile'],
    ['approve', 'openid profile e2ee:reset'],
    ['approve', 'openid profile e2ee:asymmetric'],
    ['approve', 'openid profile e2ee:asymmetric e2ee:reset'],
  ] as const) {
    await ada.page.goto(app.signInUrl({ scope }))
    await ada.press(action)
    const answer = await app.answerIn(ada.page)
    fragments.push(answer.fragment)
    await redeemed(answer)
  }
  await ada.page.goto(`${service.authUrl}/account/data`)
  await ada.call(service.baseUrl, 'GET /api/account/export')
  const { authorizations } = await ada.call(service.baseUrl, 'GET /api/oauth/authorizations')

  const secrets = [
    ...prfOutputs,
    { name: 'master key', bytes: masterKey },
    ...secretsOfCode(code),
    ...fragments.flatMap(secretsOfFragment),
  ]
  // The second visit brings the key of the first.
  assert.equal(new Set(fragments).size, 4)
  // Controls, in addition to the journey's keys: a search without matches must not pass by searching nothing.
  assert.ok(secrets.length >= 15)

  // A fragment is not sent over the network (RFC 9110 §7.1), but the browser's own record of an address contains it.
  const sent = (await ada.sent()).map(
    ({ url, headers, body }) => `${url.replace(/#.*$/, '')}\n${JSON.stringify(headers)}\n${body.toString('latin1')}`,
  )
  const answers = await Promise.all(answered)
  await ada.leave()
  await service.end()
  const kept = { rows: await rowsOf(service), files: filesSince(service.settings.DATA_DIR, startedAt) }
  const places = { sent, answers, tokens, received: app.received, logged: [service.output()], ...kept }
  // The ciphertexts passed through all of it, and are found.
  const sealed = authorizations[0]?.encryptedAppKey ?? 'nothing'
  for (const texts of [sent, answers, kept.rows, kept.files]) assert.ok(texts.some((text) => text.includes(sealed)))
  const found = Object.entries(places).flatMap(([place, texts]) => {
    assert.ok(texts.length > 0, place)
    return texts
      .map(searcherOf)
      .flatMap((search) =>
        secrets.flatMap((secret) => search(secret).map((spelling) => `${secret.name}, ${spelling}, ${place}`)),
      )
  })
  assert.deepEqual([...new Set(found)], [])
})

test('E2E-03 a page that knows a key sends no referrer and loads nothing from elsewhere', async () => {
  await stage.service.restart()
  const bob = await stage.invite()
  const headers = await bob.page.goto(app.signInUrl()).then((answer) => answer?.headers() ?? {})
  assert.equal(headers['referrer-policy'], 'no-referrer')
  const policy = headers['content-security-policy'] ?? ''
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval|\*/)
  assert.match(policy, /default-src 'none'|default-src 'self'/)
  await bob.control('sign-in').waitFor()
  const workers = () => bob.page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)
  assert.equal(await workers(), 0, 'no service worker could see a URL or a response')

  const cleo = await stage.enroll({ handle: 'cleo', displayName: 'Cleo' })
  await cleo.page.goto(app.signInUrl())
  await cleo.press('approve')
  assert.ok(keyIn((await app.answerIn(cleo.page)).fragment))
  const { authUrl, baseUrl } = stage.service
  const ours = [authUrl, baseUrl]
  for (const { url } of await bob.sent()) assert.ok(ours.includes(new URL(url).origin), url)
  for (const { url } of await cleo.sent()) assert.ok([...ours, app.origin].includes(new URL(url).origin), url)
  // The page on which the app receives the key gets no referrer.
  for (const { url, headers: sentHeaders } of await cleo.sent())
    if (new URL(url).origin === app.origin) assert.equal(sentHeaders['referer'], undefined)
  await cleo.leave()
  await bob.leave()
})

/** Every key in a fragment: for a private key also its raw bytes, and as JWK. */
function secretsOfFragment(fragment: string): Secret[] {
  const { appKey, former } = keyIn(fragment)
  return [appKey, ...(former ? [former] : [])].flatMap((key) => {
    if (key.mode === 'symmetric') return [{ name: 'app key', bytes: key.key }]
    const der = Buffer.from(key.privateKey)
    const { d = '' } = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' })
    return [
      { name: 'private key of the app', bytes: der },
      { name: 'bytes of the private key', bytes: Buffer.from(d, 'base64url') },
    ]
  })
}

/** The responses of the provider to a tab. */
function recordAnswers(page: Page): Promise<string>[] {
  const answers: Promise<string>[] = []
  page.on('response', (response) => {
    if (!response.url().startsWith(stage.service.baseUrl)) return
    const headers = JSON.stringify(response.headers())
    // The browser drops the body of a response whose page is gone.
    answers.push(
      response.text().then(
        (body) => `${headers}\n${body}`,
        () => headers,
      ),
    )
  })
  return answers
}

/** Returns every row of every table, as text. */
async function rowsOf({ settings }: Service): Promise<string[]> {
  const storage = await reopenStorage(undefined, settings.DATA_DIR)
  try {
    const tables = await storage.db.introspection.getTables()
    const rows = await Promise.all(
      tables.map(({ name }) => sql`select to_jsonb(t) as row from ${sql.table(name)} t`.execute(storage.db)),
    )
    return rows.flatMap((found) => found.rows.map((row) => JSON.stringify(row)))
  } finally {
    await storage.close()
  }
}

/** Returns the files that were written since then. */
function filesSince(directory: string, startedAt: number): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => statSync(path).mtimeMs >= startedAt)
    .map((path) => readFileSync(path).toString('latin1'))
}
