import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startDocumentHost } from '../../../server/testing/document-host.ts'
import { newChallenge } from '../../../server/testing/world.ts'
import { watch } from '../../fixtures/visual-checks.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { consentMessages as germanConsent } from '../../../web/locales/de/pages/sign-in/consent.ts'
import { consentMessages as consent } from '../../../web/locales/en/pages/sign-in/consent.ts'

let stage: TestEnvironment
let agent: Awaited<ReturnType<typeof startDocumentHost>>
let clientId: string
before(async () => {
  ;[stage, agent] = await Promise.all([openStage({ CLIENT_ID_METADATA_DOCUMENTS: 'on' }), startDocumentHost()])
  clientId = agent.at('/agent.json')
  const redirectUris = ['https://agent.example/callback', 'http://127.0.0.1/callback']
  const document = { client_id: clientId, client_name: 'Your friendly bank', redirect_uris: redirectUris }
  agent.answer('/agent.json', { body: JSON.stringify(document) })
  agent.answer('/favicon.ico', { status: 204 })
  agent.answer('/callback', { headers: { 'content-type': 'text/html' }, body: '<!doctype html><html lang=en>' })
})
after(async () => {
  await stage.close()
  await agent.close()
})

function signInAt(redirectUri: string, parameters: Record<string, string> = {}): string {
  const { challenge } = newChallenge()
  const defaults = {
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid profile email',
    state: 's1',
  }
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  return `${stage.service.authUrl}/signin?${new URLSearchParams({ ...defaults, ...pkce, ...parameters })}`
}

for (const { locale, words, ...look } of [
  { locale: 'en-GB', words: consent, colorScheme: 'dark', width: 1280 } as const,
  { locale: 'de-DE', words: germanConsent, colorScheme: 'light', width: 320 } as const,
])
  test(`CID-03 an unverified app is shown by its host: ${look.colorScheme}, ${look.width}, ${locale}`, async () => {
    const { colorScheme, width } = look
    const person = await stage.invite({ colorScheme, locale, viewport: { width, height: 740 } })
    const { page } = person
    await page.goto(`${stage.service.authUrl}/register`)
    await person.createAccount({ handle: `ada-${colorScheme}-${width}`, displayName: 'Ada Lovelace' })
    await person.press('confirm-recovery-saved')
    await page.waitForURL(/\/account/)
    const watched = await watch(person, { language: locale.slice(0, 2) })

    await page.goto(signInAt('https://agent.example/callback'))
    await person.control('approve').waitFor()
    const heading = await page.locator('h1').innerText()
    assert.ok(heading.includes(`localhost:${agent.port}`), 'the host comes first')
    assert.ok(!heading.includes('bank'), 'and the name is no heading')
    assert.match(await page.title(), /localhost/)
    await page.getByText(words.signin.callsItself('Your friendly bank')).waitFor()
    await page.getByText(words.signin.unverified).waitFor()
    assert.equal(await page.getByText(words.signin.onDevice).count(), 0)
    await watched.look(`described-app-${width}-${colorScheme}`)

    // Consent is requested every time where any program on the device could be the sender of the request.
    for (const port of [agent.port, agent.port]) {
      await page.goto(signInAt(`http://127.0.0.1:${port}/callback`))
      await person.control('approve').waitFor()
      await page.getByText(words.signin.onDevice).waitFor()
      await watched.look(`described-app-on-device-${width}-${colorScheme}`)
      await person.press('approve')
      await page.waitForURL(/127\.0\.0\.1:\d+\/callback\?code=/)
    }
    await page.goto(`${stage.service.authUrl}/account/apps`)
    await page.getByText(`localhost:${agent.port}`).waitFor()
    await watched.look(`described-app-listed-${width}-${colorScheme}`)
    assert.deepEqual(watched.faults, [])
    await person.leave()
  })

for (const { locale, words, ...look } of [
  { locale: 'en-GB', words: consent, colorScheme: 'light', width: 1280 } as const,
  { locale: 'de-DE', words: germanConsent, colorScheme: 'dark', width: 320 } as const,
])
  test(`CID-07 an error leads to an unverified app only after consent: ${look.colorScheme}, ${locale}`, async () => {
    const { colorScheme, width } = look
    const person = await stage.invite({ colorScheme, locale, viewport: { width, height: 740 } })
    const { page } = person
    const watched = await watch(person, { language: locale.slice(0, 2) })
    const callback = `http://localhost:${agent.port}/callback`
    const document = { client_id: clientId, client_name: 'Your friendly bank', redirect_uris: [callback] }
    const other = agent.at(`/agent-${width}.json`)
    agent.answer(`/agent-${width}.json`, { body: JSON.stringify({ ...document, client_id: other }) })
    const place = `localhost:${agent.port}`
    const back = page.getByRole('link', { name: words.unfinished.back(place), exact: true })
    const errorOf = () => new URL(page.url()).searchParams.get('error')
    const ask = async (parameters: Record<string, string>) => {
      await page.goto(signInAt(callback, { client_id: other, ...parameters }))
    }

    await ask({ scope: 'no-such' })
    await page.getByRole('heading', { name: words.unfinished.title }).waitFor()
    await page.getByText(words.unfinished.why(place)).waitFor()
    await watched.look(`unfinished-${width}-${colorScheme}`)
    await back.click()
    await page.waitForURL(/\/callback\?/)
    assert.equal(errorOf(), 'invalid_scope')

    await ask({ scope: 'no-such', response_mode: 'form_post' })
    const posted = page.waitForRequest((request) => request.method() === 'POST' && request.url() === callback)
    await back.click()
    assert.match((await posted).postData() ?? '', /error=invalid_scope/)

    // First signed out; then signed in, but not connected; then connected.
    await ask({ prompt: 'none' })
    await page.getByText(words.unfinished.silent(place)).waitFor()
    await watched.look(`unfinished-silently-${width}-${colorScheme}`)
    await page.goto(`${stage.service.authUrl}/register`)
    await person.createAccount({ handle: `bob-${colorScheme}-${width}`, displayName: 'Bob' })
    await person.press('confirm-recovery-saved')
    await page.waitForURL(/\/account/)
    await ask({ prompt: 'none' })
    await back.click()
    await page.waitForURL(/\/callback\?/)
    assert.equal(errorOf(), 'consent_required')

    await ask({ scope: 'openid' })
    await person.press('approve')
    await page.waitForURL(/\/callback\?/)
    await ask({ scope: 'openid profile', prompt: 'none' })
    await page.waitForURL(/\/callback\?/)
    assert.equal(errorOf(), 'consent_required', 'a user who has connected it is redirected')
    assert.deepEqual(watched.faults, [])
    await person.leave()
  })
