import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { openGuide } from '../../fixtures/guide.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'

/** Calls the route handlers of the guide with a Request, as the App Router does. */
const routes = {
  path: 'host.mjs',
  code: `
import { createServer } from 'node:http'
createServer(async (incoming, outgoing) => {
  const request = new Request(process.env.APP_URL + incoming.url, { headers: incoming.headers })
  const { pathname } = new URL(request.url)
  if (!['/sign-in', '/callback', '/me', '/sign-out'].includes(pathname)) return outgoing.writeHead(404).end()
  const { GET } = await import('./app' + pathname + '/route.js')
  const response = await GET(request)
  outgoing.setHeaders(response.headers)
  outgoing.writeHead(response.status).end(await response.text())
}).listen(process.env.PORT)
`,
}

/** Serves the files of the guide as `vite` does. */
const vite = {
  path: 'host.mjs',
  code: `
import { createServer } from 'vite'
process.env.VITE_ISSUER = process.env.ISSUER
process.env.VITE_CLIENT_ID = process.env.CLIENT_ID
const server = { port: Number(process.env.PORT), strictPort: true }
await (await createServer({ server, cacheDir: '.vite', logLevel: 'silent' })).listen()
`,
}

let stage: TestEnvironment
let ada: Person
before(async () => {
  stage = await openStage()
  ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
})
after(() => stage.close())

const guides = [
  { name: 'sign-in-with-node', home: '/' },
  { name: 'sign-in-with-express', home: '/' },
  { name: 'sign-in-with-fastify', home: '/' },
  { name: 'sign-in-with-nextjs', home: '/me', host: routes },
]

for (const { name, home, host } of guides)
  test(`${name}: the app of the guide signs in and out, and rejects a response that the browser did not request`, (t) =>
    follow(t, name, home, host))

async function follow(t: TestContext, name: string, home: string, host?: typeof routes) {
  const app = await openGuide(stage.service, name, host)
  t.after(() => app.close())
  const { page } = ada
  const words = () => page.locator('body').innerText()

  await page.goto(app.origin + home)
  assert.match(await words(), /You are not signed in/)

  await page.goto(`${app.origin}/sign-in`)
  await ada.press('deny')
  await page.waitForURL(/\/callback/)
  assert.match(await words(), /Not signed in: access_denied/)

  // A path that cannot be parsed does not end the app.
  await fetch(`${app.origin}//`)
  const strangers = await fetch(`${app.origin}/callback?code=of-somebody-else&state=of-somebody-else`)
  assert.equal(strangers.status, 400)
  assert.match(await strangers.text(), /not started in this browser/)

  await page.goto(`${app.origin}/sign-in`)
  await ada.press('approve')
  await page.waitForURL(app.origin + home)
  assert.match(await words(), /^Hello Ada Lovelace\. You are [0-9a-f-]{36} here\.$/)

  const clicks = ada.clicks()
  await page.goto(`${app.origin}/sign-out`)
  await page.waitForURL(app.origin + home)
  assert.match(await words(), /You are not signed in/)
  assert.equal(ada.clicks(), clicks)
  await page.goto(`${stage.service.authUrl}/login`)
  await page.waitForURL(`${stage.service.authUrl}/account`)
}

test('sign-in-with-vite: the app of the guide signs in, refreshes its tokens and signs out', async (t) => {
  const app = await openGuide(stage.service, 'sign-in-with-vite', vite)
  t.after(() => app.close())
  const { page } = ada
  const shows = (words: RegExp) => page.getByRole('status').filter({ hasText: words }).waitFor()
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()

  await page.goto(`${app.origin}/`)
  await shows(/^You are not signed in\.$/)

  await press('Sign in')
  await ada.press('deny')
  await shows(/^Not signed in: access_denied$/)
  assert.equal(page.url(), `${app.origin}/`)

  await page.goto(`${app.origin}/callback?code=of-another-browser&state=of-another-browser`)
  await shows(/^Not signed in: No matching state found/)

  await press('Sign in')
  await ada.press('approve')
  const greeting = /^Hello Ada Lovelace\. You are [0-9a-f-]{36} here\.$/
  await shows(greeting)
  assert.equal(page.url(), `${app.origin}/`)
  await page.reload()
  await shows(greeting)

  // An access token that has expired is refreshed.
  const expired = await page.evaluate(() => {
    const [key = ''] = Object.keys(sessionStorage).filter((each) => each.startsWith('oidc.user:'))
    const user: { access_token: string } = JSON.parse(sessionStorage.getItem(key) ?? '')
    sessionStorage.setItem(key, JSON.stringify({ ...user, expires_at: 1 }))
    return user.access_token
  })
  await page.reload()
  await shows(greeting)
  const stored = await page.evaluate(() => Object.values(sessionStorage).join('\n'))
  assert.match(stored, /"access_token":/)
  assert.ok(!stored.includes(expired))

  const clicks = ada.clicks()
  await press('Sign out')
  await shows(/^You are not signed in\.$/)
  assert.equal(ada.clicks(), clicks)
  await page.goto(`${stage.service.authUrl}/login`)
  await page.waitForURL(`${stage.service.authUrl}/account`)
})
