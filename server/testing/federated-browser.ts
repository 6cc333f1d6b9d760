import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { TestApp, TestWorld } from './world.ts'
import { newChallenge } from './world.ts'

type Fields = Record<string, string>
type Cookies = { main: string; federated: string }

/** Headers that only the browser itself sends. */
export const fedcmHeaders = { 'sec-fetch-dest': 'webidentity' }
const pages = 'http://localhost:4401'

/** Returns the value of a cookie in an answer. */
export function cookieIn({ headers }: { headers: Record<string, unknown> }, name: string): string | undefined {
  const set = [headers['set-cookie']].flat().map(String)
  return set
    .find((each) => each.startsWith(`${name}=`))
    ?.split(';')[0]
    ?.slice(name.length + 1)
}

/**
 * Opens the browser of a user who has just signed in, optionally for an authorization request. It talks to the API
 * host: for itself with the FedCM cookie, for pages with the session cookie.
 */
export async function openBrowser(
  { api, auth }: Pick<TestWorld, 'api' | 'auth'>,
  person: { authenticator: { authenticate: (options: unknown) => unknown } | object; identityId: string },
  requestUri?: string,
) {
  const input = requestUri === undefined ? {} : { requestUri }
  const started = await api.inject({ method: 'POST', url: '/api/auth/login/start', payload: input })
  const { flowId, options } = started.json()
  const { authenticator } = person
  assert.ok('authenticate' in authenticator)
  const payload = { flowId, credential: authenticator.authenticate(options) }
  const signedIn = await api.inject({ method: 'POST', url: '/api/auth/login/finish', payload })
  assert.equal(signedIn.statusCode, 200, signedIn.body)
  const cookies: Cookies = {
    main: cookieIn(signedIn, 'countersign') ?? '',
    federated: cookieIn(signedIn, '__Host-countersign-fedcm') ?? '',
  }
  const byItself = { ...fedcmHeaders, cookie: `__Host-countersign-fedcm=${cookies.federated}` }
  const ofPages = { cookie: `countersign=${cookies.main}`, origin: pages }

  const accounts = (headers: Fields = {}) =>
    api.inject({ url: '/api/oauth/fedcm/accounts', headers: { ...byItself, ...headers } })
  const postForm = (url: string, fields: Fields, headers: Fields) =>
    api.inject({
      method: 'POST',
      url,
      headers: { ...byItself, 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams(fields).toString(),
    })

  /** Requests an assertion for an app, from a page of that app unless `headers` differ. */
  function assertion(
    app: TestApp,
    params: object | string = {},
    { fields = {}, headers = {} }: BrowserRequestOptions = {},
  ) {
    const { origin } = new URL(app.redirectUri)
    const text = typeof params === 'string' ? params : JSON.stringify(params)
    const said = { disclosure_text_shown: 'false', is_auto_selected: 'false', mode: 'active' }
    const form = { client_id: app.clientId, account_id: person.identityId, params: text, ...said, ...fields }
    return postForm('/api/oauth/fedcm/assertion', form, { origin, ...headers })
  }

  /** Opens the window of a continuation up to the sign-in page: returns its URL and view. */
  async function open(continueOn: string, headers: Fields = { cookie: ofPages.cookie }) {
    const { pathname, search } = new URL(continueOn)
    const led = await api.inject({ url: `${pathname}${search}`, headers })
    assert.equal(led.statusCode, 303, led.body)
    const there = new URL(String(led.headers.location), 'http://localhost:4400')
    if (there.origin !== pages) return { there, view: undefined }
    const shown = await auth.inject({ url: `${there.pathname}${there.search}` })
    const view: unknown = JSON.parse(/id="view">(.*)<\/script>/.exec(shown.body)?.[1] ?? '{}')
    return { there, view }
  }

  /** Sends what the sign-in page sends when the user consents. */
  function agree(there: URL, requested: object = {}) {
    const given = there.searchParams
    const payload = {
      clientId: given.get('client_id'),
      redirectUri: given.get('redirect_uri'),
      identityId: given.get('identity_id'),
      scope: given.get('scope') ?? '',
      state: given.get('state'),
      fedcmContinue: true,
      ...(given.has('nonce') && { nonce: given.get('nonce') }),
      ...(given.has('code_challenge') && { codeChallenge: given.get('code_challenge'), codeChallengeMethod: 'S256' }),
      ...requested,
    }
    return api.inject({ method: 'POST', url: '/api/oauth/authorize', headers: ofPages, payload })
  }

  const finalize = (payload: object, headers: Fields = ofPages) =>
    api.inject({ method: 'POST', url: '/api/oauth/fedcm/finalize', headers, payload })

  /** Completes the window of a continuation, and returns the assertion. */
  async function finish(app: TestApp, continueOn: string, requested: object = {}): Promise<string> {
    const { there } = await open(continueOn)
    const finished = await finalize({ ...(await codeOf(there, requested)), clientId: app.clientId })
    assert.equal(finished.statusCode, 200, finished.body)
    return finished.json<{ assertion: string }>().assertion
  }

  async function codeOf(there: URL, requested: object = {}): Promise<{ code: string; state: string }> {
    const agreed = await agree(there, requested)
    assert.equal(agreed.statusCode, 200, agreed.body)
    const ended = new URL(agreed.json<{ redirectUrl: string }>().redirectUrl)
    assert.equal(`${ended.origin}${ended.pathname}`, 'http://localhost:4400/fedcm/resolve')
    return { code: ended.searchParams.get('code') ?? '', state: ended.searchParams.get('state') ?? '' }
  }

  /** Returns an assertion, through a window if the user must be asked. */
  async function assertionFor(app: TestApp, params: object = {}): Promise<string> {
    const answer = await assertion(app, params)
    assert.equal(answer.statusCode, 200, answer.body)
    const { token, continue_on: continueOn } = answer.json<{ token?: string; continue_on?: string }>()
    return token ?? finish(app, continueOn ?? '')
  }

  const disconnect = (app: TestApp, hint: string, headers: Fields = {}) =>
    postForm(
      '/api/oauth/fedcm/disconnect',
      { client_id: app.clientId, account_hint: hint },
      { origin: new URL(app.redirectUri).origin, ...headers },
    )

  return { cookies, ofPages, accounts, assertion, open, agree, codeOf, finalize, finish, assertionFor, disconnect }
}

type BrowserRequestOptions = { fields?: Fields; headers?: Fields }

/** Redeems an assertion, as the app with its secret unless `fields` differ. */
export function exchange({ api }: Pick<TestWorld, 'api'>, app: TestApp, assertion: string, fields: Fields = {}) {
  const payload = { assertion, clientId: app.clientId, clientSecret: app.clientSecret, ...fields }
  return api.inject({ method: 'POST', url: '/api/oauth/fedcm/exchange', payload })
}

/** Creates the params of a page with a PKCE challenge. */
export function newParams(scope = 'openid profile') {
  const { verifier, challenge } = newChallenge()
  const nonce = createHash('sha256').update(verifier).digest('hex').slice(0, 16)
  return { verifier, params: { scope, nonce, codeChallenge: challenge } }
}
