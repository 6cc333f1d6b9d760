import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject } from '@countersign/protocol/formats/json'
import { goBackTo, openDeveloperPage, pageApp } from '../../../testing/developer-pages.ts'
import { lostAnswer } from '../../../testing/scripted-page.ts'
import { event, type } from '../../../testing/render.ts'

const orrery = pageApp('Orrery', { redirectUris: ['https://orrery.example/callback'] })

/** Enters a new app. The response to the first registration is lost; the list can be read from some time on. */
async function enterApp({ isRegistered, readsLost }: { isRegistered: boolean; readsLost: number }) {
  const apps = [pageApp('Ledger')]
  let registrations = 0
  let reads = -1
  const page = await openDeveloperPage('/developers/new', ({ name, body }) => {
    if (name === 'GET /api/developer/apps') {
      reads += 1
      return reads > 0 && reads <= readsLost ? lostAnswer : { apps: [...apps] }
    }
    if (name.endsWith('/secret')) return { clientSecret: 'replaced', previousUntil: orrery.createdAt }
    if (name !== 'POST /api/developer/apps' || !isObject(body)) return undefined
    registrations += 1
    if (registrations > 1) return { ...orrery, clientSecret: 'secret of the second' }
    if (isRegistered) apps.unshift(orrery)
    return lostAnswer
  })
  await page.after(() => type(page.find('input[name="name"]'), 'Orrery'))
  await page.after(() => type(page.find('textarea[name="redirectUris"]'), 'https://orrery.example/callback'))
  return { ...page, create: () => page.click('[data-action="create-app"]'), registrations: () => registrations }
}

test('an app whose registration had no response is opened, and its secret can be replaced', async () => {
  const { find, after, click, create, registrations } = await enterApp({ isRegistered: true, readsLost: 0 })
  await create()
  assert.equal(registrations(), 1)
  assert.equal(find('h1').textContent, 'Orrery')
  find('[data-action="replace-lost-secret"]').focus()
  await click('[data-action="replace-lost-secret"]')
  assert.equal(document.activeElement?.localName, 'h1', 'the button is gone')
  await click('[data-action="new-secret"]')
  await after(() => find('dialog form').dispatchEvent(event('submit')))
  await click('[data-action="confirm-secret-saved"]')
  await click('[data-action="tab-settings"]')
  assert.equal(document.querySelectorAll('[data-action="replace-lost-secret"]').length, 0)
})

test('the developer who tries again without a response registers the app once', async () => {
  const { find, create, registrations } = await enterApp({ isRegistered: true, readsLost: 1 })
  await create()
  assert.notEqual(find('.actions .problem').textContent, '')
  await create()
  assert.equal(registrations(), 1)
  assert.equal(find('h1').textContent, 'Orrery')
})

test('an app of another kind is registered when the developer tries again', async () => {
  const { find, after, create, registrations } = await enterApp({ isRegistered: true, readsLost: 1 })
  await create()
  await after(() => find('input[name="kind"][value="public"]').click())
  await create()
  assert.equal(registrations(), 2)
})

test('an app that the service did not get is registered when the developer tries again', async () => {
  const { find, create, registrations } = await enterApp({ isRegistered: false, readsLost: 0 })
  await create()
  assert.notEqual(find('.actions .problem').textContent, '')
  await create()
  assert.equal(registrations(), 2)
  assert.equal(find('output[name="clientSecret"]').textContent, 'secret of the second')
})

test('the developer who leaves after a lost response and then tries again registers the app once', async () => {
  const { find, after, create, registrations } = await enterApp({ isRegistered: true, readsLost: 1 })
  await create()
  await after(() => goBackTo('/developers'))
  await after(() => goBackTo('/developers/new'))
  await create()
  assert.equal(registrations(), 1)
  assert.equal(find('h1').textContent, 'Orrery')
})

test('each app whose secret was lost with the response says so until the secret is replaced', async () => {
  const apps = [pageApp('Ledger')]
  const { find, after, click } = await openDeveloperPage('/developers/new', ({ name, body }) => {
    if (name === 'GET /api/developer/apps') return { apps: [...apps] }
    if (name.endsWith('/secret')) return { clientSecret: 'replaced', previousUntil: orrery.createdAt }
    if (name !== 'POST /api/developer/apps' || !isObject(body)) return undefined
    apps.unshift(pageApp(String(body['name']), { redirectUris: orrery.redirectUris }))
    return lostAnswer
  })
  for (const app of ['Orrery', 'Sextant']) {
    await after(() => goBackTo('/developers/new'))
    await after(() => type(find('input[name="name"]'), app))
    await after(() => type(find('textarea[name="redirectUris"]'), 'https://orrery.example/callback'))
    await click('[data-action="create-app"]')
  }
  const isNoted = async (app: string) => {
    await after(() => goBackTo(`/developers/apps/${pageApp(app).clientId}`))
    return document.querySelector('[data-action="replace-lost-secret"]') !== null
  }
  assert.deepEqual([await isNoted('Ledger'), await isNoted('Sextant'), await isNoted('Orrery')], [false, true, true])
  await click('[data-action="replace-lost-secret"]')
  await click('[data-action="new-secret"]')
  await after(() => find('dialog form').dispatchEvent(event('submit')))
  await click('[data-action="confirm-secret-saved"]')
  assert.deepEqual([await isNoted('Orrery'), await isNoted('Sextant')], [false, true])
})
