import type { NamedIdentity, OrganizationAuditEntry } from '@countersign/protocol/operations/audit'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { memberContext } from '../session/membership.ts'
import { callBusiness } from '../session/session.ts'

/** Filters of the audit log: `all`, or the prefix of the action. */
export const kinds = [
  'all',
  'organization.member',
  'organization.invitation',
  'organization.signing',
  'organization.domain',
  'organization.key',
  'organization.signatory',
  'sso',
  'scim',
] as const
export const periods = ['all', 'week', 'month', 'year'] as const

export type EventFilter = { kind: (typeof kinds)[number]; by: string; period: (typeof periods)[number] }
export const noFilter: EventFilter = { kind: 'all', by: 'all', period: 'all' }

const daysOf = { week: 7, month: 30, year: 365 }
const dayMilliseconds = 24 * 3600 * 1000

export type EventPage = {
  entries: OrganizationAuditEntry[]
  people: NamedIdentity[]
  nextCursor: string | null
}

/** Returns the parameters of a filter. */
export function queryOf({ kind, by, period }: EventFilter, now: Date) {
  const days = period === 'all' ? undefined : daysOf[period]
  return {
    ...(kind !== 'all' && { action: kind }),
    ...(by !== 'all' && { by }),
    ...(days !== undefined && { from: new Date(now.getTime() - days * dayMilliseconds).toISOString() }),
  }
}

/** Reads the newest events that match, or those after the ones that are shown. */
export async function readEvents(
  organization: OwnOrganization,
  filter: EventFilter,
  { shown, limit }: { shown?: EventPage | undefined; limit?: string },
): Promise<EventPage> {
  const { params, querystring } = memberContext(organization)
  const cursor = shown?.nextCursor
  const page = { ...(cursor && { cursor }), ...(limit !== undefined && { limit }) }
  const given = { params, querystring: { ...querystring, ...queryOf(filter, new Date()), ...page } }
  const { entries, people, nextCursor } = await callBusiness('GET /api/organizations/:organizationId/audit', given)
  const known = new Map([...(shown?.people ?? []), ...people].map((each) => [each.identityId, each]))
  return { entries: [...(shown?.entries ?? []), ...entries], people: [...known.values()], nextCursor }
}
