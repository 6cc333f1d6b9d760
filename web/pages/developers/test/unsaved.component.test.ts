import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@countersign/protocol/clients/resources'
import { isObject } from '@countersign/protocol/formats/json'
import { asksBeforeUnload, goBackTo, openDeveloperPage, pageApp } from '../../../testing/developer-pages.ts'
import { Refused } from '../../../testing/scripted-page.ts'
import { event, type } from '../../../testing/render.ts'

const ledger = pageApp('Ledger')
const compiler = pageApp('Compiler')
const path = `/developers/apps/${ledger.clientId}`
const api = `/api/developer/apps/${ledger.clientId}`

/** Opens a view of the two apps. The service changes what it is asked to change. */
function openApps(at: string, { first = ledger, resources = [] as Resource[] } = {}) {
  let current = first
  return openDeveloperPage(at, ({ name, body }) => {
    if (name === 'GET /api/developer/apps') return { apps: [current, compiler] }
    if (name === `GET ${api}/webhook`) return new Refused(404, 'webhook_not_found')
    if (name === `GET ${api}/resources`) return { resources }
    if (name === `GET ${api}`) return current
    if (name === `DELETE ${api}`) return null
    if (name === `PATCH ${api}` && isObject(body)) return (current = { ...current, ...body })
    return undefined
  })
}

/** Returns what an input shows. */
function valueOf(selector: string): unknown {
  const input = document.querySelector(selector)
  return input ? Reflect.get(input, 'value') : undefined
}

test('the browser asks before it drops settings, which other views keep', async () => {
  const { find, after, click, requests } = await openApps(`${path}/settings`)
  assert.equal(asksBeforeUnload(), false)
  const description = () => find('input[name="description"]')
  await after(() => type(description(), 'Counts everything'))
  assert.equal(asksBeforeUnload(), true)
  await click('[data-action="tab-usage"]')
  assert.equal(asksBeforeUnload(), true)
  await click('[data-action="tab-settings"]')
  assert.equal(Reflect.get(description(), 'value'), 'Counts everything')
  await after(() => goBackTo('/developers'))
  assert.equal(asksBeforeUnload(), true)
  await after(() => goBackTo(`/developers/apps/${compiler.clientId}/settings`))
  assert.equal(Reflect.get(description(), 'value'), '')
  await after(() => goBackTo(`${path}/settings`))
  assert.equal(Reflect.get(description(), 'value'), 'Counts everything')
  await click('[data-action="save-app"]')
  const sent = requests.find(({ name }) => name === `PATCH ${api}`)
  assert.deepEqual(sent?.body, { description: 'Counts everything' })
  assert.match(find('.saved').textContent, /Saved/)
  assert.equal(asksBeforeUnload(), false)
})

test('a redirect URI that the quickstart adds stays in settings that are not saved', async () => {
  const { find, after, click, requests } = await openApps(`${path}/settings`)
  const uris = () => find('textarea[name="redirectUris"]')
  const [first] = ledger.redirectUris
  await after(() => type(uris(), `${first}\nhttps://ledger.example/second`))
  await after(() => type(find('input[name="description"]'), 'Counts everything'))
  await click('[data-action="tab-quickstart"]')
  await click('[data-action="add-redirect-uri"]')
  const local = 'http://localhost:3000/callback'
  await click('[data-action="tab-settings"]')
  assert.deepEqual(String(Reflect.get(uris(), 'value')).split('\n'), [first, local, 'https://ledger.example/second'])
  assert.equal(Reflect.get(find('input[name="description"]'), 'value'), 'Counts everything')
  await click('[data-action="save-app"]')
  const sent = requests.findLast(({ name }) => name === `PATCH ${api}`)
  assert.deepEqual(sent?.body, {
    description: 'Counts everything',
    redirectUris: [first, local, 'https://ledger.example/second'],
  })
})

test('a redirect URI that is added while another app is shown stays in the settings', async () => {
  const response = Promise.withResolvers<void>()
  let current = ledger
  const { find, after, click } = await openDeveloperPage(path, ({ name, body }) => {
    if (name === 'GET /api/developer/apps') return { apps: [ledger, compiler] }
    if (name === `GET ${api}`) return current
    if (name !== `PATCH ${api}` || !isObject(body)) return undefined
    current = { ...current, ...body }
    return response.promise.then(() => current)
  })
  await click('[data-action="add-redirect-uri"]')
  await after(() => goBackTo(`/developers/apps/${compiler.clientId}`))
  await after(response.resolve)
  assert.equal(asksBeforeUnload(), false)
  await after(() => goBackTo(`${path}/settings`))
  const local = 'http://localhost:3000/callback'
  assert.equal(Reflect.get(find('textarea[name="redirectUris"]'), 'value'), `${ledger.redirectUris[0]}\n${local}`)
  assert.equal(asksBeforeUnload(), false)
})

test('settings are saved although the service has kept what another tab has added', async () => {
  const [first = ''] = ledger.redirectUris
  const [second, third] = ['https://ledger.example/second', 'https://ledger.example/third']
  const { find, after, click } = await openDeveloperPage(`${path}/settings`, ({ name }) => {
    if (name === 'GET /api/developer/apps') return { apps: [ledger] }
    if (name === `GET ${api}`) return { ...ledger, redirectUris: [first, second] }
    return name === `PATCH ${api}` ? { ...ledger, redirectUris: [first, second, third] } : undefined
  })
  const uris = find('textarea[name="redirectUris"]')
  await after(() => type(uris, `${first}\n${third}`))
  await click('[data-action="save-app"]')
  assert.equal(Reflect.get(uris, 'value'), `${first}\n${second}\n${third}`)
  assert.match(find('.saved').textContent, /Saved/)
  assert.equal(asksBeforeUnload(), false)
})

test('settings typed back to what is saved are nothing to lose', async () => {
  const { find, after } = await openApps(`${path}/settings`)
  const description = find('input[name="description"]')
  await after(() => type(description, 'Counts'))
  await after(() => type(description, ''))
  assert.equal(asksBeforeUnload(), false)
})

test('an app that was registered with its scopes in another order is not edited when it is opened', async () => {
  const app = pageApp('Ledger', { allowedScopes: ['openid', 'e2ee:symmetric', 'profile'] })
  const { find, after, click, requests } = await openApps(`${path}/settings`, { first: app })
  assert.equal(asksBeforeUnload(), false)
  await after(() => type(find('input[name="name"]'), 'Cash book'))
  await click('[data-action="save-app"]')
  assert.deepEqual(requests.find(({ name }) => name === `PATCH ${api}`)?.body, { name: 'Cash book' })
})

test('what was typed for a new app stays while another view is shown, until the developer cancels', async () => {
  const { find, after, click } = await openApps('/developers/new')
  assert.equal(asksBeforeUnload(), false)
  await after(() => type(find('input[name="name"]'), 'Orrery'))
  await click('input[name="kind"][value="public"]')
  await after(() => goBackTo('/developers'))
  assert.equal(asksBeforeUnload(), true)
  await after(() => goBackTo('/developers/new'))
  assert.equal(valueOf('input[name="name"]'), 'Orrery')
  assert.equal(Reflect.get(find('input[name="kind"][value="public"]'), 'checked'), true)
  await click('[data-action="cancel"]')
  assert.equal(asksBeforeUnload(), false)
  await after(() => goBackTo('/developers/new'))
  assert.equal(valueOf('input[name="name"]'), '')
})

test('what was typed for a new app is gone once the app is registered, also from another view', async () => {
  const response = Promise.withResolvers<unknown>()
  const { find, after, click } = await openDeveloperPage('/developers/new', ({ name }) => {
    if (name === 'GET /api/developer/apps') return { apps: [ledger] }
    return name === 'POST /api/developer/apps' ? response.promise : undefined
  })
  await after(() => type(find('input[name="name"]'), 'Orrery'))
  await after(() => type(find('textarea[name="redirectUris"]'), 'https://orrery.example/callback'))
  await click('input[name="kind"][value="public"]')
  await click('[data-action="create-app"]')
  await after(() => goBackTo('/developers'))
  assert.equal(asksBeforeUnload(), true)
  await after(() => response.resolve(pageApp('Orrery', { public: true })))
  assert.equal(asksBeforeUnload(), false)
  await after(() => goBackTo('/developers/new'))
  assert.equal(valueOf('input[name="name"]'), '')
})

test('what was typed for a webhook stays with its app while another view is shown', async () => {
  const { find, after, click } = await openApps(`${path}/webhook`)
  const url = 'input[name="webhookUrl"]'
  assert.equal(asksBeforeUnload(), false)
  await after(() => type(find(url), 'https://ledger.example/events'))
  assert.equal(asksBeforeUnload(), true)
  await click('[data-action="tab-resources"]')
  assert.equal(asksBeforeUnload(), true)
  await after(() => goBackTo('/developers'))
  await after(() => goBackTo(`${path}/webhook`))
  assert.equal(valueOf(url), 'https://ledger.example/events')
  await after(() => type(find(url), ''))
  assert.equal(asksBeforeUnload(), false)
})

const entries: Resource = {
  ...{ resourceKey: 'entries', displayName: 'Entries', audience: 'https://ledger.example/entries', description: null },
  ...{ scopes: ['entries.read'], scopeDescriptions: {}, status: 'active' },
}

for (const [what, open, other] of [
  ['a new resource', 'add-resource', 'change-resource'],
  ['a resource', 'change-resource', 'add-resource'],
] as const)
  test(`the form of ${what} in which something was typed is open again, until the developer closes it`, async () => {
    const { find, after, click } = await openApps(`${path}/resources`, { resources: [entries] })
    const name = 'dialog input[name="displayName"]'
    await click(`[data-action="${open}"]`)
    assert.equal(asksBeforeUnload(), false)
    await after(() => type(find(name), 'Bookings'))
    await after(() => goBackTo(`${path}/usage`))
    assert.equal(document.querySelector('dialog'), null)
    assert.equal(asksBeforeUnload(), true)
    await after(() => goBackTo(`${path}/resources`))
    assert.equal(valueOf(name), 'Bookings')
    await click('dialog [data-action="cancel"]')
    assert.equal(asksBeforeUnload(), false)
    await click(`[data-action="${other}"]`)
    assert.notEqual(valueOf(name), 'Bookings')
    await click('dialog [data-action="cancel"]')
    await after(() => goBackTo(`${path}/usage`))
    await after(() => goBackTo(`${path}/resources`))
    assert.equal(document.querySelector('dialog'), null)
  })

test('what was typed for a webhook is nothing to lose once its app is deleted', async () => {
  const { find, after, click } = await openApps(`${path}/webhook`)
  await after(() => type(find('input[name="webhookUrl"]'), 'https://ledger.example/events'))
  await click('[data-action="tab-danger"]')
  await click('[data-action="end-app"]')
  await after(() => type(find('dialog input'), ledger.name))
  await after(() => find('dialog form').dispatchEvent(event('submit')))
  assert.equal(find('h1').textContent, 'Your apps')
  assert.equal(asksBeforeUnload(), false)
})

test('a guide opens beside the settings', async () => {
  const { find } = await openApps(`${path}/settings`)
  assert.equal(find('a[href="/help/guides/connect-an-app"]').getAttribute('target'), '_blank')
})
