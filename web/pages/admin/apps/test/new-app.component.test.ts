import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { event, type } from '../../../../testing/render.ts'
import { pageApp } from '../../../../testing/developer-pages.ts'
import { renderForOperator } from '../../../../testing/operator-pages.ts'

const { NewApp } = await import('../NewApp.tsx')

/** Opens the form, and enters a name. */
async function openForm() {
  const page = await renderForOperator(
    () => h(NewApp, { onCreated: () => {}, onClose: () => {} }),
    () => ({ ...pageApp('Orrery'), clientSecret: 'secret' }),
  )
  await page.after(() => type(page.find('dialog input[name="name"]'), 'Orrery'))
  const enter = (...uris: string[]) =>
    page.after(() => type(page.find('textarea[name="redirectUris"]'), uris.join('\n')))
  const register = () => page.after(() => page.find('dialog form').dispatchEvent(event('submit')))
  return { ...page, enter, register, sent: () => page.requests.map(({ body }) => body) }
}

/** Returns the problem that the field of the redirect URIs is described by. */
function problem(): string | undefined {
  const field = document.querySelector('textarea[name="redirectUris"]')
  const ids = field?.getAttribute('aria-describedby')?.split(' ') ?? []
  const described = ids.find((id) => id.endsWith('-problem'))
  return described === undefined ? undefined : document.querySelector(`[id="${described}"]`)?.textContent
}

const refused = {
  'is separated by a comma': [['https://orrery.example/a,https://orrery.example/b'], /one per line/],
  'ends with a comma': [['https://orrery.example/a,', 'https://orrery.example/b'], /a,.* one per line/],
  'uses http beyond localhost': [['https://orrery.example/a', 'http://orrery.example/b'], /\/b.* needs https/],
  'is on a host of this service': [['https://id.example/callback'], /address of this service/],
  'has a scheme of its own': [['com.example.orrery:/callback'], /scheme/],
  'is no URL': [['orrery'], /no full URL/],
  'is missing': [[], /Enter full URLs/],
} as const
for (const [what, [uris, sentence]] of Object.entries(refused))
  test(`a redirect URI that ${what} is explained to the operator at its field, and not sent`, async () => {
    const { enter, register, sent } = await openForm()
    await enter(...uris)
    assert.equal(problem(), undefined, 'before the operator submits')
    await register()
    assert.match(problem() ?? '', sentence)
    assert.deepEqual(sent(), [])
  })

test('a redirect URI that public apps alone may have is sent for one', async () => {
  const { enter, register, click, sent } = await openForm()
  await enter('com.example.orrery:/callback', 'http://localhost:3000/callback')
  await register()
  await click('input[name="kind"][value="public"]')
  assert.equal(problem(), undefined)
  await register()
  const [body] = sent()
  assert.partialDeepStrictEqual(body, {
    redirectUris: ['com.example.orrery:/callback', 'http://localhost:3000/callback'],
    public: true,
  })
})
