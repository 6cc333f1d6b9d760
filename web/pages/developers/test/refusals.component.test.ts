import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject } from '@countersign/protocol/formats/json'
import { openDeveloperPage, pageApp } from '../../../testing/developer-pages.ts'
import { Refused } from '../../../testing/scripted-page.ts'
import { type } from '../../../testing/render.ts'

const ledger = pageApp('Ledger')
const api = `/api/developer/apps/${ledger.clientId}`

/** Opens a view of one app, of which the service changes nothing. */
function openApp(at: string, code = 'invalid_request') {
  return openDeveloperPage(at, ({ name }) => {
    if (name === 'GET /api/developer/apps') return { apps: [ledger] }
    if (name === `GET ${api}`) return ledger
    if (name === `GET ${api}/webhook`) return new Refused(404, 'webhook_not_found')
    if (name.startsWith('P')) return new Refused(400, code, 'websiteUrl must be a field of the API.')
    return undefined
  })
}

/** Returns the problem that an input is described by. */
function problemOf(input: HTMLElement): string | undefined {
  if (input.getAttribute('aria-invalid') !== 'true') return undefined
  const [problem] = (input.getAttribute('aria-describedby') ?? '').split(' ').filter((id) => id.endsWith('-problem'))
  return document.querySelector(`[id="${problem}"]`)?.textContent
}

const fields = {
  privacyUrl: ['https://ada:secret@ledger.example', /username/],
  websiteUrl: ['http://ledger.example', /https:\/\//],
  backchannelLogoutUri: ['https://ledger.example/logout#top', /fragment/],
  postLogoutRedirectUris: ['http://ledger.example/', /http:\/\/ledger\.example\/.* needs https:\/\//],
  redirectUris: ['https://ledger.example/a, https://ledger.example/b', /ledger\.example\/a,.* one per line/],
} as const
for (const [name, [value, sentence]] of Object.entries(fields))
  test(`a wrong ${name} is explained at its field before it is sent`, async () => {
    const { find, after, click, requests } = await openApp(`/developers/apps/${ledger.clientId}/settings`)
    const input = find(`[name="${name}"]`)
    await after(() => type(input, value))
    await click('[data-action="save-app"]')
    assert.match(problemOf(input) ?? '', sentence)
    assert.equal(requests.filter((request) => request.name.startsWith('PATCH')).length, 0)
  })

test('a registered URI that is refused today stops no other setting, and is explained in an edited list', async () => {
  // The comma was accepted once, and the host has become one of this service.
  const registered = {
    redirectUris: ['https://ledger.example/callback,', 'https://id.example/callback'],
    postLogoutRedirectUris: ['https://id.example/'],
    websiteUrl: 'http://ledger.example',
  }
  let app = pageApp('Ledger', registered)
  const { find, after, click, requests } = await openDeveloperPage(
    `/developers/apps/${app.clientId}/settings`,
    (of) => {
      if (of.name === 'GET /api/developer/apps') return { apps: [app] }
      return of.name === `PATCH ${api}` && isObject(of.body) ? (app = { ...app, ...of.body }) : undefined
    },
  )
  await after(() => type(find('input[name="description"]'), 'Counts everything'))
  await click('[data-action="save-app"]')
  const changes = () => requests.filter(({ name }) => name.startsWith('PATCH')).map(({ body }) => body)
  assert.deepEqual(changes(), [{ description: 'Counts everything' }])
  assert.match(find('.saved').textContent, /Saved/)
  assert.match(find('.faults').textContent, /callback, .* one per line.*id\.example.* address of this service/s)

  const uris = find('textarea[name="redirectUris"]')
  assert.equal(problemOf(uris), undefined)
  await after(() => type(uris, [...registered.redirectUris, 'https://ledger.example/second'].join('\n')))
  await click('[data-action="save-app"]')
  assert.match(problemOf(uris) ?? '', /callback,.* one per line/)
  assert.equal(changes().length, 1)
})

test('a wrong redirect URI of a new app is explained at its field', async () => {
  const { find, after, click, requests } = await openApp('/developers/new')
  await after(() => type(find('input[name="name"]'), 'Orrery'))
  const uris = find('textarea[name="redirectUris"]')
  await after(() => type(uris, 'com.example.orrery:/callback'))
  await click('[data-action="create-app"]')
  assert.match(problemOf(uris) ?? '', /com\.example\.orrery:\/callback.* scheme/)
  await click('input[name="kind"][value="public"]')
  assert.equal(problemOf(uris), undefined)
  await click('[data-action="create-app"]')
  assert.equal(requests.filter((request) => request.name.startsWith('POST')).length, 1)
})

const uriInputs = [
  [`/developers/apps/${ledger.clientId}/settings`, 'save-app', 'redirectUris'],
  [`/developers/apps/${ledger.clientId}/settings`, 'save-app', 'postLogoutRedirectUris'],
  ['/developers/new', 'create-app', 'redirectUris'],
] as const
for (const [path, action, name] of uriInputs)
  test(`screen readers announce a fault in ${name} on ${path} once while it is corrected`, async () => {
    const { find, after, click } = await openApp(path)
    const uris = find(`textarea[name="${name}"]`)
    const enter = (...lines: string[]) => after(() => type(uris, lines.join('\n')))
    await enter('https://ledger.example/a', 'http://ledger.example/b', 'http://ledger.example/c')
    await click(`[data-action="${action}"]`)
    const problem = problemOf(uris)
    assert.match(problem ?? '', /ledger\.example\/b/)
    await enter('https://ledger.example/a', 'http://ledger.example/', 'http://ledger.example/c')
    assert.equal(problemOf(uris), problem)
    await enter('https://ledger.example/a', 'https://ledger.example/', 'http://ledger.example/c')
    assert.match(problemOf(uris) ?? '', /ledger\.example\/c/)
    await enter('https://ledger.example/a', 'https://ledger.example/', 'https://ledger.example/c')
    assert.equal(problemOf(uris), undefined)
  })

test('a wrong address of a webhook is explained at its field', async () => {
  const { find, after, click, requests } = await openApp(`/developers/apps/${ledger.clientId}/webhook`)
  const input = find('input[name="webhookUrl"]')
  await after(() => type(input, 'https://ledger.example/events#top'))
  await click('[data-action="set-webhook"]')
  assert.match(problemOf(input) ?? '', /#/)
  assert.equal(requests.filter((request) => request.name.startsWith('PUT')).length, 0)
})

for (const code of ['invalid_request', 'invalid_redirect_uri'])
  test(`another ${code} is not shown in the words of the API`, async () => {
    const { find, after, click, text } = await openApp(`/developers/apps/${ledger.clientId}/settings`, code)
    await after(() => type(find('input[name="websiteUrl"]'), 'https://ledger.example'))
    await click('[data-action="save-app"]')
    assert.notEqual(find('.actions .problem').textContent, '')
    assert.doesNotMatch(text(), /websiteUrl/)
  })
