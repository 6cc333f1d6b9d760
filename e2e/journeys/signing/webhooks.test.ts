import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { serveHere } from '../../../server/testing/service-here.ts'
import { startWebhookReceiver } from '../../../server/testing/webhook-receiver.ts'
import { developerMessages } from '../../../web/locales/en/pages/developers.ts'
import { en } from '../../../web/locales/en/messages.ts'
import { freePort, layOut, run, sendPart } from '../../fixtures/guide.ts'
import { openStage } from '../../fixtures/environment.ts'

const words = { ...en, ...developerMessages }

const root = join(import.meta.dirname, '../../..')

test('WHK-01 WHK-02 webhooks: the code of the guide accepts each signed event once, and nothing else', async (t) => {
  const guide = await readFile(join(root, 'docs/guides/webhooks.md'), 'utf8')
  const service = await serveHere()
  t.after(() => service.close())
  const countersign = async (...words: string[]): Promise<Record<string, string>> => {
    const command = [join(root, 'cli/main.ts'), '--json', ...words]
    const { stdout } = await promisify(execFile)(process.execPath, command, { env: service.settings })
    return JSON.parse(stdout)
  }
  const { clientId = '' } = await countersign(
    'apps',
    'create',
    '--name',
    'Shop',
    '--redirect-uri',
    'https://a.example/',
  )
  const port = await freePort()
  const origin = `http://localhost:${port}`
  assert.match(guide, /^npx --no-install countersign webhooks set app_… http:\/\/localhost:3000\/hook$/m)
  const { secret = '' } = await countersign('webhooks', 'set', clientId, `${origin}/hook`)

  const { directory, remove } = await layOut(guide)
  t.after(remove)
  const app = await run(directory, 'app.mjs', { WEBHOOK_SECRET: secret, PORT: String(port), APP_URL: origin })
  t.after(() => app.close())

  await sendPart(origin)
  const forged = {
    'webhook-id': 'a',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': 'v1,AAAA',
  }
  const body = JSON.stringify({ type: 'webhook.test', data: {} })
  assert.equal((await fetch(origin, { method: 'POST', body })).status, 401)
  assert.equal((await fetch(origin, { method: 'POST', body, headers: forged })).status, 401)

  const lines = createInterface(app.stdout)[Symbol.asyncIterator]()
  const ours = new Webhook(secret)
  const theirs = new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`)
  const [now, before] = [new Date(), new Date(Date.now() - 600_000)]
  const bodyOf = (says: string) => JSON.stringify({ type: 'signing.signed', data: { requestId: says } })
  const send = async (at: Date, says: string, id: string, { by = ours, altered = {}, sent = bodyOf(says) } = {}) => {
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': by.sign(id, at, bodyOf(says)),
      ...altered,
    }
    return (await fetch(origin, { method: 'POST', body: sent, headers })).status
  }
  assert.deepEqual(
    [
      await send(now, 'it', 'a', { by: theirs }),
      await send(now, 'it', 'a', { sent: bodyOf('something else') }),
      await send(now, 'it', 'a', { altered: { 'webhook-id': 'another' } }),
      await send(before, 'it', 'a', { altered: { 'webhook-timestamp': forged['webhook-timestamp'] } }),
    ],
    [401, 401, 401, 401],
  )
  assert.deepEqual(
    [await send(now, 'it', 'b'), await send(now, 'it', 'b'), await send(before, 'it', 'c')],
    [204, 204, 401],
  )
  const unreadable = JSON.stringify({ type: 'signing.signed' })
  const failed = { sent: unreadable, altered: { 'webhook-signature': ours.sign('d', now, unreadable) } }
  assert.equal(await send(now, 'that', 'd', failed), 500, 'a handler that fails ends no process')
  assert.equal(await send(now, 'that', 'd'), 204, 'the event can be sent again')
  await countersign('webhooks', 'test', clientId)
  const printed = [await lines.next(), await lines.next(), await lines.next()].map(({ value }) => value)
  assert.deepEqual(printed, ['it was signed', 'that was signed', 'The webhook works'])
})

test('a developer sets a webhook, and sees the deliveries of a signature, also one that failed', async (t) => {
  const stage = await openStage()
  t.after(() => stage.close())
  const { baseUrl, authUrl } = stage.service
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page } = ada
  await page.goto(`${authUrl}/developers/new`)
  await ada.write('name', 'Approvals')
  await page.locator('textarea[name="redirectUris"]').fill('https://approvals.example/')
  await ada.press('create-app')
  const clientSecret = await page.locator('output[name="clientSecret"]').innerText()
  const clientId = await page.locator('.credentials code').first().innerText()
  const app = `${page.url()}/webhook`
  await ada.press('confirm-secret-saved')
  await ada.press('tab-webhook')

  const receiver = await startWebhookReceiver([410])
  t.after(receiver.close)
  await ada.write('webhookUrl', 'http://approvals.example/hook')
  await ada.press('set-webhook')
  await page.locator('main .problem').waitFor()
  await ada.write('webhookUrl', receiver.url)
  await ada.press('set-webhook')
  const secret = await page.locator('output[name="webhookSecret"]').innerText()
  await ada.press('confirm-secret-saved')
  await page.getByText(words.webhook.none).waitFor()

  const { identities } = await ada.call(baseUrl, 'GET /api/auth/session')
  const created = await fetch(`${baseUrl}/api/signing/request`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ clientId, clientSecret, identityId: identities[0]?.identityId, payload: 'Pay 10 €' }),
  })
  const { requestId } = JSON.parse(await created.text())
  await page.goto(`${authUrl}/sign?requestId=${requestId}`)
  await page.locator('[data-action="sign"][aria-disabled="false"]').click()
  await page.locator('.ended').waitFor()

  await receiver.has(1)
  await page.goto(app)
  await page.getByText(words.webhook.gone).waitFor()
  await ada.press('save-webhook')
  await ada.press('send-again')
  const [, delivered] = await receiver.has(2)
  const event = new Webhook(secret).verify(delivered?.body ?? '', delivered?.headers ?? {})
  assert.partialDeepStrictEqual(event, { type: 'signing.signed', data: { requestId, status: 'signed' } })
  await page.locator('[data-state="delivered"]').getByText('signing.signed').waitFor()
  assert.equal(await ada.control('send-again').count(), 0)

  const shown = page.locator('[data-state]')
  for (let count = 2; count <= 10; count += 1) {
    await ada.press('test-webhook')
    await shown.nth(count - 1).waitFor()
  }
  assert.equal(await ada.control('more-deliveries').count(), 0)
  await ada.press('test-webhook')
  await ada.press('more-deliveries')
  await shown.nth(10).waitFor()
  assert.equal(await ada.control('more-deliveries').count(), 0)
  await page.locator('[data-state="delivered"]').nth(10).waitFor()

  await ada.press('end-webhook')
  await ada.press('remove-webhook')
  await ada.control('set-webhook').waitFor()
  await page.reload()
  await page.getByText(words.webhook.what).waitFor()
  assert.ok(!(await page.content()).includes(receiver.url))
  await ada.leave()
})
