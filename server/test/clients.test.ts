import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { NewApp } from '@countersign/protocol/clients/apps'
import * as oauth4webapi from 'oauth4webapi'
import * as openidClient from 'openid-client'
import { createAuthenticator } from '#testing/authenticator.ts'
import { serveHere } from '#testing/service-here.ts'
import type { Served } from '#testing/service.ts'

let service: Served
before(async () => {
  service = await serveHere()
})
after(() => service.close())

const redirectUri = 'https://app.example/callback'

async function post<Answer>(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(service.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  assert.ok(answer.ok, `${path}: ${answer.status}`)
  const said: Answer = JSON.parse(await answer.text())
  return said
}

const registerApp = (settings: Partial<NewApp> = {}) =>
  post<{ clientId: string; clientSecret: string }>(
    '/api/admin/apps',
    { name: 'A client', redirectUris: [redirectUri], ...settings },
    service.admin,
  )

/** Creates a user with a passkey who consents to any authorization URL; returns the redirect of their browser. */
async function createPerson(handle: string) {
  const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
  const { flowId, options } = await post<{ flowId: string; options: Parameters<typeof authenticator.register>[0] }>(
    '/api/auth/register/start',
    { handle, displayName: handle },
  )
  const { sessionToken, identities } = await post<{ sessionToken: string; identities: [{ identityId: string }] }>(
    '/api/auth/register/finish',
    { flowId, credential: authenticator.register(options) },
  )
  const { identityId } = identities[0]
  return {
    identityId,
    async approve(authorizationUrl: URL): Promise<URL> {
      assert.equal((await fetch(authorizationUrl)).status, 200)
      const requested = Object.fromEntries(authorizationUrl.searchParams)
      const { redirectUrl } = await post<{ redirectUrl: string }>(
        '/api/oauth/authorize',
        {
          clientId: requested['client_id'],
          redirectUri: requested['redirect_uri'] ?? redirectUri,
          requestUri: requested['request_uri'],
          identityId,
          scope: requested['scope'],
          state: requested['state'],
          nonce: requested['nonce'],
          codeChallenge: requested['code_challenge'],
          codeChallengeMethod: requested['code_challenge_method'],
        },
        { authorization: `Bearer ${sessionToken}` },
      )
      return new URL(redirectUrl)
    },
  }
}

const authentications = {
  client_secret_post: { settings: {}, with: (secret: string) => openidClient.ClientSecretPost(secret) },
  client_secret_basic: { settings: {}, with: (secret: string) => openidClient.ClientSecretBasic(secret) },
  'no secret, a public app': { settings: { public: true }, with: () => openidClient.None() },
}
for (const [what, authentication] of Object.entries(authentications))
  test(`openid-client signs a user in, refreshes and reads userinfo, with ${what}`, async () => {
    const { clientId, clientSecret } = await registerApp(authentication.settings)
    const person = await createPerson(`visitor-${what.length}`)
    const config = await openidClient.discovery(
      new URL(service.authUrl),
      clientId,
      undefined,
      authentication.with(clientSecret),
      { execute: [openidClient.allowInsecureRequests] },
    )
    const pkceCodeVerifier = openidClient.randomPKCECodeVerifier()
    const [expectedState, expectedNonce] = [openidClient.randomState(), openidClient.randomNonce()]
    const url = openidClient.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'openid profile offline_access',
      code_challenge: await openidClient.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
    })
    const callback = await person.approve(url)
    const tokens = await openidClient.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier,
      expectedState,
      expectedNonce,
      idTokenExpected: true,
    })
    assert.equal(tokens.claims()?.sub, person.identityId)

    const refreshed = await openidClient.refreshTokenGrant(config, tokens.refresh_token ?? '')
    assert.notEqual(refreshed.refresh_token, tokens.refresh_token)
    const userinfo = await openidClient.fetchUserInfo(config, refreshed.access_token, person.identityId)
    assert.equal(userinfo.preferred_username, `visitor-${what.length}`)
  })

test("openid-client pushes its request, and the browser's URL contains only the reference", async () => {
  const { clientId, clientSecret } = await registerApp()
  const person = await createPerson('pushed')
  const config = await openidClient.discovery(new URL(service.authUrl), clientId, clientSecret, undefined, {
    execute: [openidClient.allowInsecureRequests],
  })
  const pkceCodeVerifier = openidClient.randomPKCECodeVerifier()
  const [expectedState, expectedNonce] = [openidClient.randomState(), openidClient.randomNonce()]
  const url = await openidClient.buildAuthorizationUrlWithPAR(config, {
    redirect_uri: redirectUri,
    scope: 'openid profile',
    code_challenge: await openidClient.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  })
  assert.deepEqual([...url.searchParams.keys()].toSorted(), ['client_id', 'request_uri'])
  const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true }
  const tokens = await openidClient.authorizationCodeGrant(config, await person.approve(url), checks)
  assert.equal(tokens.claims()?.sub, person.identityId)
})

for (const algorithm of ['RS256', 'ES256', 'EdDSA'] as const)
  test(`oauth4webapi completes the flow and verifies an ID token signed with ${algorithm}`, async () => {
    const { clientId, clientSecret } = await registerApp({ idTokenSignedResponseAlg: algorithm })
    const person = await createPerson(`reader-${algorithm.toLowerCase()}`)
    const issuer = new URL(service.authUrl)
    const insecure = { [oauth4webapi.allowInsecureRequests]: true }
    const server = await oauth4webapi.processDiscoveryResponse(
      issuer,
      await oauth4webapi.discoveryRequest(issuer, insecure),
    )
    const client = { client_id: clientId, id_token_signed_response_alg: algorithm }
    const authenticate = oauth4webapi.ClientSecretPost(clientSecret)

    const verifier = oauth4webapi.generateRandomCodeVerifier()
    const [state, nonce] = [oauth4webapi.generateRandomState(), oauth4webapi.generateRandomNonce()]
    const url = new URL(server.authorization_endpoint ?? '')
    url.search = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid profile offline_access',
      code_challenge: await oauth4webapi.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    }).toString()
    const callback = oauth4webapi.validateAuthResponse(server, client, await person.approve(url), state)
    const answer = await oauth4webapi.authorizationCodeGrantRequest(
      server,
      client,
      authenticate,
      callback,
      redirectUri,
      verifier,
      insecure,
    )
    const tokens = await oauth4webapi.processAuthorizationCodeResponse(server, client, answer, {
      expectedNonce: nonce,
      requireIdToken: true,
    })
    await oauth4webapi.validateApplicationLevelSignature(server, answer, insecure)
    const { sub = '' } = oauth4webapi.getValidatedIdTokenClaims(tokens) ?? {}
    assert.equal(sub, person.identityId)

    const refreshing = await oauth4webapi.refreshTokenGrantRequest(
      server,
      client,
      authenticate,
      tokens.refresh_token ?? '',
      insecure,
    )
    const refreshed = await oauth4webapi.processRefreshTokenResponse(server, client, refreshing)
    const asking = await oauth4webapi.userInfoRequest(server, client, refreshed.access_token, insecure)
    assert.equal(
      (await oauth4webapi.processUserInfoResponse(server, client, sub, asking)).name,
      `reader-${algorithm.toLowerCase()}`,
    )
  })
