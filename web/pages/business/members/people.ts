import type { Invitation } from '@countersign/protocol/organizations/invitations'
import { csvRecord } from '@countersign/protocol/formats/files/csv'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { ApiError } from '../../../lib/api/call.ts'
import { findKeptForm } from '../session/kept-input.ts'
import { memberContext, memberRef } from '../session/membership.ts'
import { callBusiness } from '../session/session.ts'

const membersPath = 'GET /api/organizations/:organizationId/members'
const membersPerPage = '50'

export type MemberFilter = { q: string; role: OrganizationRole | 'all' }
export const noFilter: MemberFilter = { q: '', role: 'all' }

/** Members that are shown, how many match, and where the next page begins. */
export type MemberPage = { members: OrganizationMember[]; total: number; nextCursor: string | null }

/** Reads the first page of the members that match, or the next one after `shown`. */
export async function readMembers(
  organization: OwnOrganization,
  filter: MemberFilter,
  shown?: MemberPage,
): Promise<MemberPage> {
  const { params, querystring } = memberContext(organization)
  const cursor = shown?.nextCursor
  const paging = { limit: membersPerPage, ...(cursor && { cursor }) }
  const given = { params, querystring: { ...querystring, ...queryOf(filter), ...paging } }
  const { members, nextCursor = null, total = shown?.total ?? members.length } = await callBusiness(membersPath, given)
  return { members: [...(shown?.members ?? []), ...members], nextCursor, total }
}

/** Reads all members in pages until there are as many as are shown, or no more. */
export async function readShownMembers(organization: OwnOrganization, shown: number): Promise<MemberPage> {
  let page = await readMembers(organization, noFilter)
  while (page.nextCursor !== null && page.members.length < shown) page = await readMembers(organization, noFilter, page)
  return page
}

const formBeginning = 'member-'

/** Names the form of a member among the input that is kept while its change is signed. */
export function formOf({ memberId }: Pick<OrganizationMember, 'memberId'>): string {
  return `${formBeginning}${memberId}`
}

/** Reads the member whose change the user went away to sign, and has not signed. They may be on any page. */
export async function readUnfinishedMember(organization: OwnOrganization): Promise<OrganizationMember | undefined> {
  const memberId = findKeptForm(formBeginning)
  if (memberId === undefined) return undefined
  try {
    return await readMember(organization, { memberId })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'member_not_found') return undefined
    throw error
  }
}

/** Reads a member as they are now. Throws `member_not_found`. */
export async function readMember(
  organization: OwnOrganization,
  member: Pick<OrganizationMember, 'memberId'>,
): Promise<OrganizationMember> {
  const path = 'GET /api/organizations/:organizationId/members/:memberId'
  return (await callBusiness(path, memberRef(organization, member))).member
}

/** Reads all members that match. */
export async function readAllMembers(organization: OwnOrganization, filter: MemberFilter) {
  const { params, querystring } = memberContext(organization)
  const given = { params, querystring: { ...querystring, ...queryOf(filter) } }
  return (await callBusiness(membersPath, given)).members
}

function queryOf({ q, role }: MemberFilter) {
  return { ...(q.trim() !== '' && { q: q.trim() }), ...(role !== 'all' && { role }) }
}

/** Reads the pending invitations; none for members who may not invite. */
export async function readInvitations(organization: OwnOrganization): Promise<Invitation[]> {
  if (!organization.scopes.includes('manage_identities')) return []
  const path = 'GET /api/organizations/:organizationId/invitations'
  return (await callBusiness(path, memberContext(organization))).invitations
}

/** Formats a CSV file, with a byte order mark for spreadsheets. */
export function toCsv(rows: string[][]): string {
  return `\uFEFF${rows.map(csvRecord).join('')}`
}
