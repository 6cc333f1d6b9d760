import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Group } from '@countersign/protocol/accounts/groups'
import type { App, AppChange } from '@countersign/protocol/clients/apps'
import type { Identity } from '@countersign/protocol/accounts/identities'
import * as openid from 'openid-client'
import { watch } from '../../fixtures/visual-checks.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const redirectUri = 'http://localhost:9/callback'

async function administer<Answer>(method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, body?: object) {
  const answer = await fetch(`${stage.service.baseUrl}/api/admin/${path}`, {
    method,
    headers: { ...stage.service.admin, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  assert.ok(answer.ok, text)
  const made: Answer = text === '' ? null : JSON.parse(text)
  return made
}

const register = (access: AppChange['access']) =>
  administer<App & { clientSecret: string }>('POST', 'apps', {
    ...{ name: 'Grafana', redirectUris: [redirectUri], access },
    allowedScopes: ['openid', 'profile', 'groups'],
  })

/** Opens the sign-in page as the app sends a browser there. */
async function goTo({ page }: Person, clientId: string, more: Record<string, string> = {}): Promise<void> {
  const parameters = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid groups' }
  await page.goto(`${stage.service.authUrl}/signin?${new URLSearchParams({ ...parameters, ...more })}`)
}

async function enroll(handle: string): Promise<Person> {
  const person = await stage.enroll({ handle, displayName: handle })
  await person.context.route(`${redirectUri}*`, (route) => route.fulfill({ body: 'Back at the app' }))
  return person
}

async function answerOf({ page }: Person): Promise<URLSearchParams> {
  await page.waitForURL(`${redirectUri}*`)
  return new URL(page.url()).searchParams
}

test('ACC-02 a user without access reads the contact, and goes back or on with another identity', async () => {
  const ada = await enroll('ada')
  const { groupId } = await administer<Group>('POST', 'groups', { key: 'eng', displayName: 'Engineering' })
  const access: AppChange['access'] = { mode: 'restricted', groups: ['eng'], contact: 'it@example.com' }
  const { clientId, clientSecret } = await register(access)
  const seen = await watch(ada, { language: 'en' })
  await goTo(ada, clientId)
  await ada.page.getByText('it@example.com').waitFor()
  await seen.look('signin-no-access-en')
  assert.equal(await ada.page.getByText('eng', { exact: true }).count(), 0)
  await ada.press('deny')
  assert.equal((await answerOf(ada)).get('error'), 'access_denied')

  for (const language of ['de', 'ar'] as const) {
    const shown = await watch(ada, { language })
    await goTo(ada, clientId, { ui_locales: language })
    await ada.page.getByText('it@example.com').waitFor()
    await shown.look(`signin-no-access-${language}`)
    assert.deepEqual(shown.faults, [])
  }

  const clicks = ada.clicks()
  await goTo(ada, clientId, { prompt: 'none', state: 'kept' })
  const silent = await answerOf(ada)
  assert.deepEqual([silent.get('error'), silent.get('state')], ['access_denied', 'kept'])
  assert.equal(ada.clicks(), clicks)

  const made = await ada.context.request.post(`${stage.service.baseUrl}/api/identities`, {
    headers: { origin: stage.service.authUrl },
    data: { handle: 'countess', displayName: 'Countess' },
  })
  const second: Identity = await made.json()
  await administer('PUT', `groups/${groupId}/members/${second.identityId}`)
  await goTo(ada, clientId, { login_hint: 'ada' })
  await ada.press('change')
  await ada.page.getByText('@countess').click()
  await ada.control('approve').waitFor()
  await seen.look('consent-groups-en')
  await ada.press('approve')
  await answerOf(ada)
  const client = await openid.discovery(new URL(stage.service.authUrl), clientId, clientSecret, undefined, {
    execute: [openid.allowInsecureRequests],
  })
  const tokens = await openid.authorizationCodeGrant(client, new URL(ada.page.url()))
  assert.deepEqual(tokens.claims()?.['groups'], ['eng'])
  const userinfo = await openid.fetchUserInfo(client, tokens.access_token, second.identityId)
  assert.deepEqual(userinfo['groups'], ['eng'])
  assert.deepEqual(seen.faults, [])
  await ada.leave()
})

test('ACC-02 an app that no one may use says so without a contact', async () => {
  const bob = await enroll('bob')
  const { clientId } = await register({ mode: 'none' })
  const seen = await watch(bob, { language: 'en' })
  await goTo(bob, clientId)
  await bob.control('deny').waitFor()
  await seen.look('signin-no-access-no-contact-en')
  assert.equal(await bob.control('approve').count(), 0)
  assert.deepEqual(seen.faults, [])
  await bob.leave()
})
