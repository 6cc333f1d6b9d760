/**
 * The way from a page of organizations to the page that signs acts, and back. Passkeys work on one host alone, so the
 * browser goes there in the same tab. Addresses name the act, and never contain its result.
 */
import { isObject } from '@countersign/protocol/formats/json'
import type { ActPlace } from './act.ts'

/**
 * What became of an act: it was done; the member declined it; it ended, and has to be started again; or it was
 * proposed, because it needs approvals.
 */
export type ActOutcome = 'done' | 'declined' | 'ended' | 'proposed'

const outcomes: readonly string[] = ['done', 'declined', 'ended', 'proposed'] satisfies ActOutcome[]
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const organizationPath = /^\/organizations(?:\/[\w-]{1,64}){0,2}$/

/** Returns the URL of the page that signs a started act, and then returns to a path of the organization pages. */
export function actPageUrl(authUrl: string, { organizationId, actId, identityId }: ActPlace, returnTo: string): string {
  const names = { organization_id: organizationId, act_id: actId, identity_id: identityId, return_to: returnTo }
  return `${authUrl}/act?${new URLSearchParams(names)}`
}

/** Parses the act that the address of the page names; returns undefined if it names none. */
export function parseActPlace(search: string): ActPlace | undefined {
  const query = new URLSearchParams(search)
  const [organizationId = '', actId = '', identityId = ''] = ['organization_id', 'act_id', 'identity_id'].map(
    (name) => query.get(name) ?? '',
  )
  return [organizationId, actId, identityId].every((id) => uuid.test(id))
    ? { organizationId, actId, identityId }
    : undefined
}

/** Returns the URL to go back to. Any other path or host in the address leads to the list of organizations. */
export function returnAddress(businessUrl: string, search: string, actId: string, outcome: ActOutcome): string {
  const requested = new URLSearchParams(search).get('return_to') ?? ''
  const path = organizationPath.test(requested) ? requested : '/organizations'
  return `${businessUrl}${path}#act=${actId}&${outcome}`
}

/** An act that this tab has started: its ID, and the action, as in the audit log. */
type Departure = { actId: string; action: string }

/** Name in session storage, which belongs to this tab alone. */
const departureKey = 'act'

/** Notes the act before this tab leaves to sign it. Without storage, the page does not say what became of it. */
export function noteDeparture(departure: Departure): void {
  ifAllowed(() => sessionStorage.setItem(departureKey, JSON.stringify(departure)))
}

/** An act that this tab has started, and what became of it. */
export type ReturnedAct = { action: string; outcome: ActOutcome }

/**
 * Takes the outcome from the address, and removes it there. Only an act that this tab has started counts, once: a link
 * with a fragment makes no page say that something was done.
 */
export function takeReturnedAct(): ReturnedAct | undefined {
  const [, actId = '', outcome = ''] = /^#act=([0-9a-f-]{36})&([a-z]+)$/.exec(location.hash) ?? []
  if (!location.hash.startsWith('#act=')) return undefined
  history.replaceState(null, '', location.pathname)
  const departure = readDeparture()
  if (departure?.actId !== actId || !isOutcome(outcome)) return undefined
  ifAllowed(() => sessionStorage.removeItem(departureKey))
  return { action: departure.action, outcome }
}

function readDeparture(): Departure | undefined {
  const written = ifAllowed(() => sessionStorage.getItem(departureKey))
  const noted: unknown = JSON.parse(written ?? 'null')
  if (!isObject(noted)) return undefined
  const { actId, action } = noted
  return typeof actId === 'string' && typeof action === 'string' ? { actId, action } : undefined
}

function isOutcome(text: string): text is ActOutcome {
  return outcomes.includes(text)
}

/** Browsers that forbid storage throw on any access. */
export function ifAllowed<T>(use: () => T): T | null {
  try {
    return use()
  } catch (error) {
    if (error instanceof DOMException) return null
    throw error
  }
}
