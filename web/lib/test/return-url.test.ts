import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptsSsoAt, withReturnUrl, returnUrl } from '../navigation.ts'

const origin = 'https://auth.example'
const site = { baseUrl: 'https://api.example', authUrl: origin, businessUrl: 'https://business.example' }
const request = '/signin?client_id=app_1&state=a%20b&redirect_uri=https%3A%2F%2Fshop.example%2Fcb'

test('a person returns to the authorization request that sent them', () => {
  assert.equal(returnUrl(`?return=${encodeURIComponent(request)}`, site), request)
  assert.equal(returnUrl(`?return=${encodeURIComponent(origin + request)}`, site), request)
})

test('a person returns to what one app wants at another', () => {
  const connect = '/connect?client_id=app_1&resource=calendar'
  assert.equal(returnUrl(`?return=${encodeURIComponent(connect)}`, site), connect)
})

test('whoever has signed in to make a key of an organization goes on with that', () => {
  const task = '/organization-keys?organization=1&identity=2&return=https%3A%2F%2Fbusiness.example%2Forganizations%2F1'
  assert.equal(returnUrl(`?return=${encodeURIComponent(task)}`, site), task)
})

test('a developer returns to their apps', () => {
  for (const path of ['/developers', '/developers/new', '/developers/apps/app_1'])
    assert.equal(returnUrl(`?return=${encodeURIComponent(path)}`, site), path)
})

test('an operator returns to the console', () => {
  for (const path of ['/admin', '/admin/people', '/admin/people/1/activity'])
    assert.equal(returnUrl(`?return=${encodeURIComponent(path)}`, site), path)
})

test('whoever comes from the pages of organizations returns there', () => {
  for (const path of ['/organizations', '/organizations/1/members', '/invitations/cs_invite_1'])
    assert.equal(returnUrl(`?return=${encodeURIComponent(site.businessUrl + path)}`, site), site.businessUrl + path)
})

test('a window that the browser opened is ended where it has to be, and nowhere else on that host', () => {
  const end = 'https://api.example/fedcm/resolve'
  assert.equal(returnUrl(`?return=${encodeURIComponent(end)}`, site), end)
  for (const other of [`${end}?code=1`, `${end}#assertion=1`, 'https://api.example/fedcm/login', `${end}/`])
    assert.equal(returnUrl(`?return=${encodeURIComponent(other)}`, site), '/account')
})

test('without a request the account comes next', () => {
  assert.equal(returnUrl('', site), '/account')
  assert.equal(returnUrl('?return=', site), '/account')
})

for (const [what, address] of Object.entries({
  'another site': 'https://evil.example/signin',
  'another site without a scheme': '//evil.example/signin',
  'another site behind backslashes': '/\\evil.example/signin',
  'another site behind a username': 'https://auth.example@evil.example/signin',
  'another port': 'https://auth.example:8443/signin',
  'the same host without TLS': 'http://auth.example/signin',
  'another site behind two backslashes': '\\\\evil.example/signin',
  'another site behind a tab': '/\t/evil.example/signin',
  'another site behind a line end': '/\n/evil.example/signin',
  'another site behind spaces': '  //evil.example/signin',
  'another site behind three slashes': '///evil.example/signin',
  'another site with our scheme': 'https:/\\evil.example/signin',
  'a host that begins like ours': 'https://auth.example.evil.example/signin',
  'our host as a part of another’s path': 'https://evil.example/https://auth.example/signin',
  'our host with a dot': 'https://auth.example./signin',
  'our host as the password of another': 'https://a:auth.example@evil.example/signin',
  'another scheme at our host': 'ftp://auth.example/signin',
  'a blob of ours': 'blob:https://auth.example/signin',
  'a script': 'javascript:alert(1)//signin',
  'a script in capitals behind a space': ' JaVaScRiPt:alert(1)//signin',
  'a script that names our host': 'javascript://auth.example/signin%0aalert(1)',
  'a document of its own': 'data:text/html,signin',
  'another page': '/account',
  'another page of the host of organizations': 'https://business.example/api/organizations',
  'an organization on another host': 'https://evil.example/organizations',
  'an organization on a host that begins so': 'https://business.example.evil.example/organizations',
  'a page below': '/signin/../account',
  'a path that only begins so': '/signing',
  'a path that only begins like that of the apps': '/developersign',
  'no address at all': 'https://[',
})) {
  test(`HDR-09 a return address of ${what} is ignored`, () => {
    assert.equal(returnUrl(`?return=${encodeURIComponent(address)}`, site), '/account')
  })
}

test('the way to registration and back keeps the request', () => {
  const address = new URL(withReturnUrl('/register', request), origin)
  assert.equal(address.pathname, '/register')
  assert.equal(returnUrl(address.search, site), request)
  assert.equal(withReturnUrl('/login', '/account'), '/login')
})

test('SSO is offered only before pages that a session opened by it can use', () => {
  for (const address of [
    ...['/account', 'https://business.example/organizations', 'https://business.example/organizations/1/members'],
    ...[`${request}&organization_id=select`, `${request}&organization_id=select&scope=openid%20email`],
  ])
    assert.equal(acceptsSsoAt(address, site), true, address)
  for (const address of [
    ...['/developers', '/admin/people', '/account/security', '/organization-keys?organization=1', '/sso/link?flow=1'],
    ...['https://business.example/invitations/1', 'https://api.example/fedcm/resolve', request, '/connect?resource=a'],
    ...[`${request}&organization_id=1&prompt=consent%20login`, `${request}&organization_id=1&max_age=60`],
    ...[`${request}&organization_id=1&scope=openid+user_id`, `${request}&organization_id=1&resource=calendar`],
    ...[`${request}&organization_id=1&scope=openid%20e2ee:symmetric`, '/signin?client_id=app_1&request_uri=urn%3A1'],
  ])
    assert.equal(acceptsSsoAt(address, site), false, address)
})

test('SSO is offered before the same pages where the hosts share an origin', () => {
  const shared = { authUrl: origin, businessUrl: origin }
  for (const address of ['/organizations', `${origin}/organizations/1/members`, `${request}&organization_id=select`])
    assert.equal(acceptsSsoAt(address, shared), true, address)
  for (const address of [request, `${origin}/invitations/1`, '/developers', '/account/security'])
    assert.equal(acceptsSsoAt(address, shared), false, address)
  assert.equal(acceptsSsoAt(`${site.businessUrl}/signin?organization_id=select`, site), false)
})
