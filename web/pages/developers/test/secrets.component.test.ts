import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asksBeforeUnload, goBackTo, openDeveloperPage, pageApp } from '../../../testing/developer-pages.ts'
import { Refused } from '../../../testing/scripted-page.ts'
import { event, type } from '../../../testing/render.ts'

const ledger = pageApp('Ledger')
const path = `/developers/apps/${ledger.clientId}`
const api = `/api/developer/apps/${ledger.clientId}`
const instant = '2030-01-01T12:00:00.000Z'

/** Opens a view of one app, whose secrets the service replaces. */
function openApp(at: string, registered?: Promise<unknown>) {
  return openDeveloperPage(at, ({ name }) => {
    if (name === 'POST /api/developer/apps') return registered
    if (name === 'GET /api/developer/apps') return { apps: [ledger] }
    if (name === `GET ${api}/webhook`) return new Refused(404, 'webhook_not_found')
    if (name === `POST ${api}/secret`) return { clientSecret: 'new client secret', previousUntil: instant }
    const webhook = { url: 'https://ledger.example/events', status: 'active', createdAt: instant, updatedAt: instant }
    if (name === `PUT ${api}/webhook`) return { ...webhook, secret: 'new webhook secret' }
    return undefined
  })
}

test('a new client secret stays until the developer has saved it, whichever view they go to', async () => {
  const { find, after, click, text } = await openApp(`${path}/danger`)
  await click('[data-action="new-secret"]')
  await after(() => find('dialog form').dispatchEvent(event('submit')))
  assert.equal(find('output[name="clientSecret"]').textContent, 'new client secret')
  assert.equal(asksBeforeUnload(), true)
  await after(() => goBackTo('/developers'))
  assert.equal(find('output[name="clientSecret"]').textContent, 'new client secret')
  assert.equal(asksBeforeUnload(), true)
  await click('[data-action="confirm-secret-saved"]')
  assert.doesNotMatch(text(), /new client secret/)
  assert.equal(asksBeforeUnload(), false)
})

test('a saved client secret is in the code of the quickstart until the developer leaves the app', async () => {
  const { find, after, click, text } = await openApp(`${path}/danger`)
  await click('[data-action="new-secret"]')
  await after(() => find('dialog form').dispatchEvent(event('submit')))
  await click('[data-action="confirm-secret-saved"]')
  await click('[data-action="tab-quickstart"]')
  assert.match(text(), /new client secret/)
  await after(() => goBackTo('/developers'))
  await after(() => goBackTo(path))
  assert.doesNotMatch(text(), /new client secret/)
})

test('a new webhook secret stays until the developer has saved it, whichever view they go to', async () => {
  const { find, after, click } = await openApp(`${path}/webhook`)
  await after(() => type(find('input[name="webhookUrl"]'), 'https://ledger.example/events'))
  await click('[data-action="set-webhook"]')
  assert.equal(asksBeforeUnload(), true)
  await after(() => goBackTo(path))
  assert.equal(find('output[name="webhookSecret"]').textContent, 'new webhook secret')
  await click('[data-action="confirm-secret-saved"]')
  assert.equal(asksBeforeUnload(), false)
})

test('a secret that arrives later does not replace one that is not saved', async () => {
  const registered = Promise.withResolvers<unknown>()
  const { find, after, click } = await openApp('/developers/new', registered.promise)
  await after(() => type(find('input[name="name"]'), 'Orrery'))
  await after(() => type(find('textarea[name="redirectUris"]'), 'https://orrery.example/callback'))
  await click('[data-action="create-app"]')
  await after(() => goBackTo(`${path}/danger`))
  await click('[data-action="new-secret"]')
  await after(() => find('dialog form').dispatchEvent(event('submit')))
  await after(() => registered.resolve({ ...pageApp('Orrery'), clientSecret: 'secret of Orrery' }))
  const shown = () => [find('dialog h2').textContent, find('output[name="clientSecret"]').textContent]
  assert.deepEqual(shown(), ['Save the client secret of Ledger', 'new client secret'])
  await click('[data-action="confirm-secret-saved"]')
  assert.deepEqual(shown(), ['Save the client secret of Orrery', 'secret of Orrery'])
  assert.equal(asksBeforeUnload(), true)
  await click('[data-action="confirm-secret-saved"]')
  assert.equal(asksBeforeUnload(), false)
})
