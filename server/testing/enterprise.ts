import { randomUUID } from 'node:crypto'
import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import type { NewSsoConnection, SsoConnection } from '@countersign/protocol/organizations/sso'
import type { OrganizationId } from '@countersign/protocol/ids'
import { startNameServer } from './name-server.ts'
import { startUpstreamProvider, type UpstreamProvider } from './upstream-provider.ts'
import { createWorld, type Person, type TestWorld } from './world.ts'

export type Enterprise = Awaited<ReturnType<typeof openEnterprise>>

/** Opens a world with an OpenID provider of an organization, and name servers for domain verification. */
export async function openEnterprise(options: Parameters<typeof createWorld>[0] = {}) {
  const dns = await startNameServer()
  const world = await createWorld({ ...options, environment: { DNS_SERVERS: dns.address, ...options.environment } })
  const upstream = await startUpstreamProvider(world.now)

  /** Sends a request as an admin of an organization. */
  const send = (
    { headers }: Pick<Person, 'headers'>,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    payload?: object,
  ) => world.business.inject({ method, url: `/api/organizations${path}`, headers, ...(payload && { payload }) })

  async function organization(owner: Person, name = 'Acme') {
    const made = await send(owner, 'POST', '', { name, identityId: owner.identityId })
    return { owner, organizationId: made.json<{ organization: { id: OrganizationId } }>().organization.id }
  }
  type Organization = Awaited<ReturnType<typeof organization>>

  async function verifyDomain({ owner, organizationId }: Organization, name: string) {
    const claimed = await send(owner, 'POST', `/${organizationId}/domains`, { domain: name })
    const { domain } = claimed.json<{ domain: OrganizationDomain }>()
    dns.setTexts(domain.challenge.name, domain.challenge.value)
    const verified = await send(owner, 'POST', `/${organizationId}/domains/${domain.domainId}/verify`)
    if (verified.statusCode !== 200) throw new Error(`domain ${name} not verified: ${verified.body}`)
    return domain
  }

  async function connect({ owner, organizationId }: Organization, settings: Partial<NewSsoConnection> = {}) {
    const { issuer, clientId, clientSecret } = upstream
    const payload = { name: 'Acme Login', oidc: { issuer, clientId, clientSecret }, ...settings }
    const fresh = { headers: await owner.signIn() }
    const answer = await send(fresh, 'POST', `/${organizationId}/sso-connections`, payload)
    if (answer.statusCode !== 201) throw new Error(`connection not created: ${answer.body}`)
    return answer.json<{ connection: SsoConnection }>().connection
  }

  /** Confirms a connection as the owner of its organization. */
  async function confirm({ owner, organizationId }: Organization, connectionId: string) {
    const fresh = { headers: await owner.signIn() }
    const answer = await send(fresh, 'POST', `/${organizationId}/sso-connections/${connectionId}/confirm`)
    if (answer.statusCode !== 200) throw new Error(`connection not confirmed: ${answer.body}`)
  }

  /** Sets up SCIM provisioning of a connection; returns a request function and its token. */
  async function provision(
    { owner, organizationId }: Organization,
    connectionId: string,
    subjectBy: 'externalId' | 'email' = 'externalId',
  ) {
    const fresh = { headers: await owner.signIn() }
    const made = await send(fresh, 'POST', `/${organizationId}/sso-connections/${connectionId}/scim-token`, {
      subjectBy,
    })
    if (made.statusCode !== 201) throw new Error(`SCIM token not created: ${made.body}`)
    const { token } = made.json<{ token: string }>()
    const ask = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, payload?: object) =>
      world.api.inject({
        method,
        url: `/scim/v2/${connectionId}${path}`,
        headers: { authorization: `Bearer ${token}`, ...(payload && { 'content-type': 'application/scim+json' }) },
        ...(payload && { payload: JSON.stringify(payload) }),
      })
    return { token, ask }
  }

  /** Creates a user at the organization's provider, with the browser in which they have linked the account. */
  async function colleague(connectionId: string, claims = newClaims()) {
    const person = await world.person()
    const browser = openBrowser(world, upstream)
    browser.bring(person)
    const arrived = await browser.signIn(connectionId, claims)
    const answer = await linkAs(browser, flowOf(arrived), person.identityId)
    if (answer.statusCode !== 200) throw new Error(`account not linked: ${answer.body}`)
    return { person, browser, claims }
  }

  return {
    world,
    upstream,
    dns,
    send,
    organization,
    verifyDomain,
    connect,
    confirm,
    provision,
    colleague,
    browser: () => openBrowser(world, upstream),
    async close() {
      await Promise.all([upstream.close(), dns.close()])
      await world.close()
    },
  }
}

/** Site that has sent the browser to a URL (Fetch Metadata); old browsers do not send it. */
type FetchSite = 'none' | 'same-origin' | 'same-site' | 'cross-site' | 'absent'

/** Simulates a browser for an SSO sign-in: it stores cookies and follows redirects. */
function openBrowser({ api, config }: TestWorld, upstream: UpstreamProvider) {
  const cookies = new Map<string, string>()
  const headers = () => ({
    cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
    origin: config.authUrl.origin,
  })

  function take<T extends { headers: { 'set-cookie'?: string | string[] | undefined } }>(answer: T): T {
    for (const set of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }

  async function go(address: string, form?: Record<string, string>, site: FetchSite = 'none') {
    const { pathname, search } = new URL(address, config.baseUrl)
    const { cookie } = headers()
    const sent = form && {
      method: 'POST' as const,
      payload: new URLSearchParams(form).toString(),
      headers: { cookie, accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    }
    const url = `${pathname}${search}`
    const from = site === 'absent' ? {} : { 'sec-fetch-site': site }
    const answer = await api.inject({ url, headers: { cookie, accept: 'text/html', ...from }, ...sent })
    return take(answer)
  }
  const get = (address: string) => go(address)
  const start = (connectionId: string, query: Record<string, string> = {}, site: FetchSite = 'none') =>
    go(`/api/sso/${connectionId}/start?${new URLSearchParams(query).toString()}`, undefined, site)
  /** Sends a request as a page of the service in this browser, which stores the cookies. */
  async function page(method: 'GET' | 'POST', url: string, payload?: object) {
    return take(await api.inject({ method, url, headers: headers(), ...(payload && { payload }) }))
  }

  return {
    cookies,
    headers,
    get,
    post: go,
    start,
    /** Signs a user in at the provider, and continues until a page or an error. */
    async signIn(
      connectionId: string,
      claims: Record<string, unknown>,
      query: Record<string, string> = {},
      site: FetchSite = 'none',
    ) {
      const begun = await start(connectionId, query, site)
      return this.follow(upstream.approve(begun.headers.location ?? linkIn(begun), claims).href)
    },
    async follow(address: string, form?: Record<string, string>) {
      let answer = await go(address, form)
      while (answer.headers.location?.startsWith('/api/')) answer = await get(answer.headers.location)
      return answer
    },
    page,
    /** Puts a user's existing session into this browser. */
    bring: (person: Pick<Person, 'sessionToken'>) => void cookies.set('countersign', person.sessionToken),
  }
}

type Browser = ReturnType<typeof openBrowser>
type Claims = { sub: string; email?: string; email_verified?: boolean; name?: string }
type Answer = { statusCode: number; body: string; headers: { location?: string | undefined } }

/** Claims of a provider about a new user. */
export function newClaims(more: Partial<Claims> = {}): Claims {
  const sub = randomUUID()
  return { sub, email: `${sub}@acme.example`, email_verified: true, name: 'Ann Example', ...more }
}

/** Returns the flow ID of the sign-in to link, from the page that the browser was sent to. */
export function flowOf({ headers: { location = '' } }: Pick<Answer, 'headers'>): string {
  return new URL(location).searchParams.get('flow') ?? ''
}

/** Builds the SCIM message that creates a user. */
export function scimUser(user: Record<string, unknown>) {
  return { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], ...user }
}

/** Builds the SCIM message that changes a user. */
export function scimPatch(...operations: object[]) {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations }
}

export function linkAs(browser: Browser, flowId: string, identityId: string) {
  return browser.page('POST', `/api/sso/arrivals/${flowId}/link`, { identityId })
}

/** Confirms a sign-in, like the page that has shown the user the account. */
export async function confirmAsShown(browser: Browser, flowId: string) {
  const { signIn } = (await browser.page('GET', `/api/sso/arrivals/${flowId}`)).json()
  const shown = { handle: signIn?.identity.handle ?? 'nobody', replaces: signIn?.replaces?.handle }
  return browser.page('POST', `/api/sso/arrivals/${flowId}/confirm`, shown)
}

export async function sessionOf(browser: Browser) {
  return (await browser.page('GET', '/api/auth/session')).json()
}

export function errorOf(answer: { statusCode: number; json: () => { error?: string } }) {
  return [answer.statusCode, answer.json().error]
}

type Shown = { organization: string; leaving: { url: string } }

/** Returns the view of the page that shows a user the destination of a sign-in first. */
export function providerViewIn({ statusCode, body, headers }: Answer): Shown {
  const view = JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
  if (statusCode !== 200 || headers.location !== undefined || view.page !== 'return')
    throw new Error(`not the page with the target of a sign-in: ${statusCode} ${body}`)
  return view
}

/** Returns the link of that page. */
const linkIn = (answer: Answer) => providerViewIn(answer).leaving.url

/** Returns the error in the view of an error page. */
export function refusalIn({ statusCode, body }: Answer) {
  return [statusCode, /"error":"(\w+)"/.exec(body)?.[1]]
}
