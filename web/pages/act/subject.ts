import { callBusiness } from '../../lib/api/business-call.ts'
import { ApiError } from '../../lib/api/call.ts'
import type { ShownAct } from '../../lib/acts/statement.ts'

/**
 * The subject of an action within its organization, by the name that the server has for it.
 */
export type ActionSubject = {
  organization: string
  what?: { kind: 'member' | 'invitation' | 'domain' | 'connection' | 'key'; name: string }
  /** True if the member leaves by themselves. */
  isOwn: boolean
}

type ActionLocation = { params: { organizationId: string }; querystring: { identity_id: string } }

/** Loads the subject of an action. Throws `ApiError`, also if it does not exist, or `NetworkError`. */
export async function loadActionSubject({ organizationId, identityId, details }: ShownAct): Promise<ActionSubject> {
  const place = { params: { organizationId }, querystring: { identity_id: identityId } }
  const [{ organization }, concern] = await Promise.all([
    callBusiness('GET /api/organizations/:organizationId', place),
    readWhat(place, details),
  ])
  return { organization: organization.name, isOwn: false, ...concern }
}

async function readWhat(place: ActionLocation, details: ShownAct['details']): Promise<Partial<ActionSubject>> {
  if ('memberId' in details) return readMember(place, textOf(details, 'memberId'))
  if ('invitationId' in details) return readInvitation(place, textOf(details, 'invitationId'))
  if ('domainId' in details) return readDomain(place, textOf(details, 'domainId'))
  if ('connectionId' in details) return readConnection(place, textOf(details, 'connectionId'))
  if ('keyId' in details) return readKey(place, textOf(details, 'keyId'))
  return {}
}

async function readMember({ params, querystring }: ActionLocation, memberId: string): Promise<Partial<ActionSubject>> {
  const given = { params: { ...params, memberId }, querystring }
  const { member } = await callBusiness('GET /api/organizations/:organizationId/members/:memberId', given)
  const name = `${member.displayName} (@${member.handle})`
  return { what: { kind: 'member', name }, isOwn: member.identityId === querystring.identity_id }
}

async function readInvitation(
  { params, querystring }: ActionLocation,
  invitationId: string,
): Promise<Partial<ActionSubject>> {
  const given = { params: { ...params, invitationId }, querystring }
  const { invitation } = await callBusiness('GET /api/organizations/:organizationId/invitations/:invitationId', given)
  const { handle, email } = invitation
  return { what: { kind: 'invitation', name: handle === null ? (email ?? '') : `@${handle}` } }
}

async function readDomain(place: ActionLocation, domainId: string): Promise<Partial<ActionSubject>> {
  const { domains } = await callBusiness('GET /api/organizations/:organizationId/domains', place)
  const name = domains.find((each) => each.domainId === domainId)?.domain
  if (name === undefined) throw new ApiError(404, 'domain_not_found', '')
  return { what: { kind: 'domain', name } }
}

async function readConnection(
  { params, querystring }: ActionLocation,
  connectionId: string,
): Promise<Partial<ActionSubject>> {
  const given = { params: { ...params, connectionId }, querystring }
  const path = 'GET /api/organizations/:organizationId/sso-connections/:connectionId'
  const { connection } = await callBusiness(path, given)
  return { what: { kind: 'connection', name: connection.name } }
}

async function readKey(place: ActionLocation, keyId: string): Promise<Partial<ActionSubject>> {
  const { keys } = await callBusiness('GET /api/organizations/:organizationId/keys', place)
  const version = keys.find((each) => each.keyId === keyId)?.version
  if (version === undefined) throw new ApiError(404, 'key_not_found', '')
  return { what: { kind: 'key', name: String(version) } }
}

function textOf(details: ShownAct['details'], name: string): string {
  const value = details[name]
  return typeof value === 'string' ? value : ''
}
