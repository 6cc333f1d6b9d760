import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generateInvitationToken } from '#organizations/members/invitations/token.ts'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

async function viewOn(path: string, { auth }: Pick<TestWorld, 'auth'> = world) {
  const { body, statusCode } = await auth.inject({ url: path })
  assert.equal(statusCode, 200, body)
  const view = /<script type="application\/json" id="view">(.*)<\/script>/.exec(body)?.[1] ?? ''
  return JSON.parse(view)
}

async function appOn(path: string): Promise<unknown> {
  return (await viewOn(path)).app
}

test('the pages before a sign-in name the app to which the user continues', async () => {
  const app = await world.app({ name: 'Letters & Ledgers' })
  const request = encodeURIComponent(`/signin?client_id=${app.clientId}&redirect_uri=https%3A%2F%2Fx.example`)
  const expected = { clientId: app.clientId, name: 'Letters & Ledgers', iconUrl: null }
  for (const page of ['register', 'login', 'recover'])
    assert.deepEqual(await appOn(`/${page}?return=${request}`), expected, page)
})

test('SGN-65 only its host names an unregistered app before a sign-in, and other sites name no app', async () => {
  const { clientId } = await world.app({ name: 'Letters & Ledgers' })
  const hostile = [
    `https://attacker.example/signin?client_id=${clientId}`,
    `//attacker.example/signin?client_id=${clientId}`,
    `/account?client_id=${clientId}`,
    `/signin?client_id=app_nobody`,
    `/signin?client_id=${clientId}&client_id=app_other`,
    'not a URL',
    '',
  ]
  for (const returnTo of hostile)
    assert.equal(await appOn(`/login?return=${encodeURIComponent(returnTo)}`), undefined, returnTo)
  const twice = encodeURIComponent(`/signin?client_id=${clientId}`)
  assert.equal(await appOn(`/login?return=${twice}&return=${twice}`), undefined)
  const unregistered = encodeURIComponent('/signin?client_id=https%3A%2F%2Fnotes.example%2Fclient.json')
  assert.deepEqual(await appOn(`/login?return=${unregistered}`), { name: 'notes.example', iconUrl: null })
})

test('the pages before a sign-in name what an invitation offers, and never its secret', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const owner = await limited.person()
  const { id } = await createOrganization(limited, owner)
  const invite = { handle: (await limited.person()).handle, role: 'viewer' }
  const made = await businessRequest(limited, owner, `POST /organizations/${id}/invitations`, invite)
  const { token, url } = made.json()
  const invitationOn = async (returnTo: string, page = 'register') => {
    const view = await viewOn(`/${page}?return=${encodeURIComponent(returnTo)}`, limited)
    assert.ok(!JSON.stringify(view).includes(token.slice(-40)))
    return view.invitation
  }
  for (const page of ['register', 'login', 'recover']) {
    const { organization, role } = await invitationOn(url, page)
    assert.deepEqual([organization.name, role], ['Acme', 'viewer'])
  }
  const edited = `${url.slice(0, -3)}${url.endsWith('AAA') ? 'BBB' : 'AAA'}`
  const elsewhere = url.replace(limited.config.businessUrl.origin, 'https://attacker.example')
  const none = [
    edited,
    elsewhere,
    `/invitations/${token}`,
    `${url}/more`,
    url.replace('/invitations', '/organizations'),
  ]
  for (const returnTo of none) assert.equal(await invitationOn(returnTo), undefined, returnTo)
  const { invitationId } = made.json().invitation
  const guess = url.replace(token, generateInvitationToken({ organizationId: id, invitationId }))
  for (let nth = 0; nth < 120; nth += 1) assert.equal(await invitationOn(guess), undefined)
  assert.equal(await invitationOn(url), undefined, 'as many guesses as at the preview, and the page is still there')
})

test('HDR-01 pages before a sign-in keep the opener of a popup only if they return to an app', async () => {
  const policyOf = async (url: string) => (await world.auth.inject({ url })).headers['cross-origin-opener-policy']
  for (const page of ['/register', '/login', '/recover']) {
    for (const returnTo of ['/signin?client_id=app_1', '/connect?resource=a', '/sso/link?flow=1'])
      assert.equal(await policyOf(`${page}?return=${encodeURIComponent(returnTo)}`), 'unsafe-none', page + returnTo)
    for (const query of ['', '?return=/account', '?return=//evil.example/signin', '?return=/signin/x', '?return=/sso'])
      assert.equal(await policyOf(page + query), 'same-origin', page + query)
  }
  assert.equal(await policyOf('/setup'), 'same-origin')
})
