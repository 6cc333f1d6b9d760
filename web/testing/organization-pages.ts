/** Renders components of the organization pages with scripted responses of the service, for a member without a key. */
import type { Identity } from '@countersign/protocol/accounts/identities'
import { asId, type IdentityId, type OrganizationId } from '@countersign/protocol/ids'
import { isObject } from '@countersign/protocol/formats/json'
import { scopesOfRole, type OrganizationRole } from '@countersign/protocol/formats/role'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { Invitation } from '@countersign/protocol/organizations/invitations'
import { type ComponentType, h } from 'preact'
import { renderInPage, type Rendered } from './render.ts'

/** A request of a page, such as `GET /api/organizations/1/members`, with its query, headers and body. */
export type PageRequest = { name: string; query: URLSearchParams; headers: Headers; body: unknown }

/** An error response. */
export class Refused {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    this.status = status
    this.code = code
  }
}

type Script = (request: PageRequest) => unknown

const nothing = () => {}

/** What browsers have, and happy-dom does not, or does not have among the globals of this process. */
function completeBrowser(): void {
  for (const name of ['sessionStorage', 'history'] as const)
    Object.defineProperty(globalThis, name, { value: Reflect.get(window, name), configurable: true })
  const { addEventListener, removeEventListener } = window
  const bound = {
    addEventListener: addEventListener.bind(window),
    removeEventListener: removeEventListener.bind(window),
  }
  Object.assign(globalThis, bound, { scrollTo: nothing })
  Object.assign(HTMLElement.prototype, { hidePopover: nothing, showModal: nothing })
}

/**
 * Answers the requests of the pages: with JSON, with an error (`Refused`), or with 204 for null. Returns the requests
 * as they come, without those for a signature and for the token of the page.
 */
function answerBy(script: Script): PageRequest[] {
  const requests: PageRequest[] = []
  const fetch = async (input: URL | string, init: RequestInit = {}): Promise<Response> => {
    const { pathname, searchParams: query } = new URL(input)
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined
    const request = { name: `${init.method ?? 'GET'} ${pathname}`, query, headers: new Headers(init.headers), body }
    if (pathname === '/api/auth/session/business')
      return Response.json({ businessToken: 'token', expiresInSeconds: 600 })
    if (isObject(body) && 'signedAction' in body) return refusal(422, 'no_signing_key', { signatureRequired: false })
    requests.push(request)
    const answer = await script(request)
    if (answer instanceof Refused) return refusal(answer.status, answer.code)
    if (answer === undefined) throw new Error(`no answer to ${request.name}`)
    return answer === null ? new Response(null, { status: 204 }) : Response.json(answer)
  }
  Object.defineProperty(globalThis, 'fetch', { value: fetch, configurable: true, writable: true })
  return requests
}

function refusal(status: number, error: string, fields: object = {}): Response {
  return Response.json({ error, error_description: error, ...fields }, { status })
}

export type OrganizationPageTest = Rendered & {
  /** The requests so far. */
  requests: PageRequest[]
  click: (selector: string) => Promise<void>
}

/** An answer takes some turns of the event loop, until it is parsed and drawn, or another request begins. */
const turnsOfAnswer = 5

/**
 * Renders a component with the error messages of organizations. `after` also waits for the answers that the script
 * does not hold back.
 */
export async function renderForOrganization(View: ComponentType, script: Script): Promise<OrganizationPageTest> {
  completeBrowser()
  const requests = answerBy(script)
  const { Refusals } = await import('../pages/business/Refusals.tsx')
  const page = await renderInPage(() => h(Refusals, { children: h(View, {}) }))
  const after = async (change: () => unknown) => {
    await page.after(change)
    for (let turns = 0, seen = requests.length; turns < turnsOfAnswer; turns += 1) {
      await page.after(nothing)
      if (seen !== requests.length) turns = 0
      seen = requests.length
    }
  }
  await after(nothing)
  return { ...page, requests, after, click: (selector) => after(() => page.find(selector).click()) }
}

const organizationId = asId<OrganizationId>('01900000-0000-7000-8000-000000000001')
const instant = '2030-01-01T00:00:00.000Z'

/** Returns an identity of the user, by its username. */
export function pageIdentity(handle: string): Identity {
  const identityId = asId<IdentityId>(`identity-${handle}`)
  return {
    identityId,
    handle,
    displayName: handle,
    avatarUrl: null,
    email: null,
    emailVerified: false,
    createdAt: instant,
  }
}

/** Returns a member with the permissions of a role. */
export function pageMember(handle: string, role: OrganizationRole, other: Partial<OrganizationMember> = {}) {
  const scopes = [...scopesOfRole[role]]
  const { identityId, displayName, avatarUrl, email } = pageIdentity(handle)
  const person = { identityId, handle, displayName, avatarUrl, email }
  const may = { role, scopes, signingAuthority: scopesOfRole[role].some((scope) => scope === 'sign') }
  return { memberId: `member-${handle}`, ...person, ...may, joinedAt: instant, ...other } satisfies OrganizationMember
}

/** Returns the organization as one of its members sees it. */
export function pageOrganization(
  { memberId, identityId, role, scopes, signingAuthority }: OrganizationMember,
  other: Partial<OwnOrganization> = {},
): OwnOrganization {
  return {
    ...{ id: organizationId, name: 'Acme', slug: 'acme', logoUrl: null },
    ...{ memberId, identityId, role, scopes, signingAuthority },
    ...{ ssoRequired: false, requireSignedActions: false, approvalsNeeded: 0 },
    ...{ encryptionMode: 'standard', keyCustody: 'svc_standard', createdAt: instant, updatedAt: instant },
    ...other,
  }
}

/** Returns an open invitation to a username. */
export function pageInvitation(handle: string, other: Partial<Invitation> = {}): Invitation {
  const invitationId = `invitation-${handle}`
  const invitee = { invitationId, role: 'member', handle, email: null } as const
  return { ...invitee, createdAt: instant, expiresAt: instant, invitedBy: null, mailedAt: null, ...other }
}
