import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ResponseOf } from '@countersign/protocol/api'
import type { NewApp } from '@countersign/protocol/clients/apps'
import * as openid from 'openid-client'
import type { Served } from '../../server/testing/service.ts'

/** What the app stores of a request while the user signs in. */
type Attempt = { visitor: string; expectedState: string; expectedNonce: string; pkceCodeVerifier: string }
type TestUser = {
  sub: string
  name: string
  accessToken: string
  refreshToken: string | undefined
  idToken: string
  signIns: number
}
type Visit = { url: URL; visitor: string; request: IncomingMessage; response: ServerResponse }

/** How the app gets its client id and secret. */
type Register = (settings: NewApp) => Promise<{ name: string; clientId: string; clientSecret?: string }>

const usualScope = 'openid profile offline_access'

/**
 * A small app on its own site that signs users in with Countersign, with unmodified `openid-client`. Browsers resolve
 * `*.localhost` by themselves; its own requests go to the provider on `localhost`.
 */
export async function openShop(service: Served, register: Register = (app) => registerAsOperator(service, app)) {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the shop has no port')
  const origin = `http://shop.localhost:${address.port}`
  const app = await register({
    name: 'Paper Shop',
    redirectUris: [`${origin}/callback`],
    postLogoutRedirectUris: [`${origin}/signed-out`],
    websiteUrl: origin,
  })
  const configure = (secret: string) => {
    const client = openid.ClientSecretPost(secret)
    const options = { execute: [openid.allowInsecureRequests] }
    return openid.discovery(new URL(service.authUrl), app.clientId, undefined, client, options)
  }
  let config = await configure(app.clientSecret ?? '')

  const attempts = new Map<string, Attempt>()
  const customers = new Map<string, TestUser>()
  const signedIn = new Map<string, string>()
  const answers: URL[] = []
  const pages: Record<string, (visit: Visit) => unknown> = {
    '/': showShop,
    '/sign-in': async (visit) => redirect(visit.response, (await beginSignIn(visit)).href),
    '/post-sign-in': async (visit) => postFrom(visit.response, await beginSignIn(visit)),
    '/callback': handleRedirectCallback,
    '/sign-out': signOut,
    '/sign-out-everywhere': signOutEverywhere,
    '/signed-out': showSignedOut,
    '/favicon.ico': ({ response }) => response.writeHead(204).end(),
  }
  server.on('request', (request, response) => {
    const visit = { url: new URL(request.url ?? '/', origin), visitor: visitorOf(request, response), request, response }
    const answer = pages[visit.url.pathname] ?? (() => response.writeHead(404).end())
    Promise.resolve(answer(visit)).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })

  function showShop({ visitor, response }: Visit) {
    const customer = customers.get(signedIn.get(visitor) ?? '')
    if (!customer) return show(response, '<a id="sign-in" href="/sign-in">Sign in with Countersign</a>')
    show(
      response,
      `<p>Welcome, <strong id="name">${escaped(customer.name)}</strong></p>` +
        `<p>Your number here: <code id="sub">${escaped(customer.sub)}</code></p>` +
        `<a id="sign-out" href="/sign-out">Sign out of the shop</a> ` +
        `<a id="sign-out-everywhere" href="/sign-out-everywhere">Sign out everywhere</a>`,
    )
  }

  /** Begins a sign-in and returns its URL at the provider. It has the parameters of the query, such as a `scope`. */
  async function beginSignIn({ url, visitor }: Visit): Promise<URL> {
    const attempt = {
      visitor,
      expectedState: openid.randomState(),
      expectedNonce: openid.randomNonce(),
      pkceCodeVerifier: openid.randomPKCECodeVerifier(),
    }
    attempts.set(attempt.expectedState, attempt)
    return openid.buildAuthorizationUrl(config, {
      redirect_uri: `${origin}/callback`,
      scope: usualScope,
      state: attempt.expectedState,
      nonce: attempt.expectedNonce,
      code_challenge: await openid.calculatePKCECodeChallenge(attempt.pkceCodeVerifier),
      code_challenge_method: 'S256',
      ...Object.fromEntries(url.searchParams),
    })
  }

  /** Reads a response from the query, or from a form that the provider's page posted: then without our cookie. */
  async function handleRedirectCallback({ url, visitor, request, response }: Visit) {
    answers.push(url)
    const posted = request.method === 'POST' ? await text(request) : undefined
    const state = new URLSearchParams(posted ?? url.search).get('state') ?? ''
    const attempt = attempts.get(state)
    attempts.delete(state)
    if (!attempt || (posted === undefined && attempt.visitor !== visitor))
      return show(response, '<p id="error">unasked</p>')
    const answer = posted === undefined ? url : postedTo(url, posted)
    try {
      const tokens = await openid.authorizationCodeGrant(config, answer, { ...attempt, idTokenExpected: true })
      const sub = tokens.claims()?.sub ?? ''
      const { name = '' } = await openid.fetchUserInfo(config, tokens.access_token, sub)
      const signIns = (customers.get(sub)?.signIns ?? 0) + 1
      const { access_token: accessToken, refresh_token: refreshToken, id_token: idToken = '' } = tokens
      customers.set(sub, { sub, name, accessToken, refreshToken, idToken, signIns })
      signedIn.set(attempt.visitor, sub)
      redirect(response, '/')
    } catch (error) {
      const isRefusal = error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError
      if (!isRefusal) throw error
      show(response, `<p id="error">${escaped(error.error)}</p><a id="again" href="/">Back to the shop</a>`)
    }
  }

  function signOut({ visitor, response }: Visit) {
    signedIn.delete(visitor)
    redirect(response, '/')
  }

  /** Sends the user to the provider to sign out there too; parameters of the query replace the default ones. */
  function signOutEverywhere({ url, visitor, response }: Visit) {
    const customer = customers.get(signedIn.get(visitor) ?? '')
    signedIn.delete(visitor)
    const logoutUrl = openid.buildEndSessionUrl(config, {
      id_token_hint: customer?.idToken ?? '',
      post_logout_redirect_uri: `${origin}/signed-out`,
      state: 'so long',
      ...Object.fromEntries(url.searchParams),
    })
    redirect(response, logoutUrl.href)
  }

  function showSignedOut({ url, response }: Visit) {
    show(response, `<p id="signed-out">Signed out, with ${escaped(url.search)}</p>`)
  }

  return {
    origin,
    app,
    /** Uses another secret from now on. */
    async takeSecret(secret: string) {
      config = await configure(secret)
    },
    /** The callbacks that browsers have brought. */
    answers,
    /** The users that the shop knows, by their `sub`; they stay known after signing out. */
    customers,
    /** Refreshes the tokens of a user in the background, as an app does before the old ones expire. */
    async refresh(customer: TestUser): Promise<TestUser> {
      const { access_token, refresh_token } = await openid.refreshTokenGrant(config, customer.refreshToken ?? '')
      return { ...customer, accessToken: access_token, refreshToken: refresh_token }
    },
    readUserinfo: ({ accessToken, sub }: TestUser) => openid.fetchUserInfo(config, accessToken, sub),
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

async function registerAsOperator(service: Served, settings: NewApp): Promise<ResponseOf<'POST /api/admin/apps'>> {
  const response = await fetch(`${service.baseUrl}/api/admin/apps`, {
    method: 'POST',
    headers: { ...service.admin, 'content-type': 'application/json' },
    body: JSON.stringify(settings),
  })
  if (!response.ok) throw new Error(`The shop was not registered: ${await response.text()}`)
  return (await response.json()) as ResponseOf<'POST /api/admin/apps'>
}

function postedTo(url: URL, body: string): Request {
  return new Request(url, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body })
}

/** Recognizes a browser by a cookie. */
function visitorOf(request: IncomingMessage, response: ServerResponse): string {
  const known = /visitor=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1]
  if (known !== undefined) return known
  // A form from another site arrives without the cookie; setting a new one would lose the session.
  if (request.method === 'POST') return ''
  const visitor = randomUUID()
  response.setHeader('set-cookie', `visitor=${visitor}; HttpOnly; SameSite=Lax; Path=/`)
  return visitor
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { location }).end()
}

/** Sends the parameters of a URL to it as a form (OpenID Connect Core §3.1.2.1). */
function postFrom(response: ServerResponse, { origin, pathname, searchParams }: URL): void {
  const fields = [...searchParams].map(([name, value]) => `<input name="${name}" value="${escaped(value)}">`)
  const form = `<form method="post" action="${origin}${pathname}">${fields.join('')}</form>`
  show(response, `${form}<script>document.forms[0].submit()</script>`)
}

function show(response: ServerResponse, content: string): void {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
  response.end(`<!doctype html><html lang="en"><title>Paper Shop</title><h1>Paper Shop</h1>${content}</html>`)
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`)
}
