import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorizationUrl, challengeOf, createPendingRequest } from '../authorization-request.ts'

test('the challenge is that of RFC 7636, appendix B', async () => {
  const challenge = await challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')
  assert.equal(challenge, 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')
})

test('every request has values of its own, of the length that RFC 7636 §4.1 wants', () => {
  const values = [createPendingRequest(), createPendingRequest()].flatMap(({ state, nonce, verifier }) => [
    state,
    nonce,
    verifier,
  ])
  assert.equal(new Set(values).size, 6)
  for (const value of values) assert.match(value, /^[\w-]{43}$/)
})

test('the request carries the challenge and never the verifier', async () => {
  const app = { clientId: 'app_1', redirectUri: 'https://auth.example/playground', authUrl: 'https://auth.example' }
  const sent = createPendingRequest()
  const url = new URL(await authorizationUrl(app, sent))
  assert.equal(url.origin + url.pathname, 'https://auth.example/signin')
  assert.equal(url.searchParams.get('redirect_uri'), app.redirectUri)
  assert.equal(url.searchParams.get('state'), sent.state)
  assert.equal(url.searchParams.get('code_challenge_method'), 'S256')
  assert.ok(!url.href.includes(sent.verifier))
})
