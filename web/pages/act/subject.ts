import { callBusiness } from '../../lib/business-call.ts'
import { Refused } from '../../lib/call.ts'
import type { AskedAct } from './act.ts'

/**
 * Whom or what an act concerns beside its organization, by the name that the service has for it. What the page that
 * asks says of it counts for nothing.
 */
export type Concern = {
  organization: string
  what?: { kind: 'member' | 'invitation' | 'domain' | 'connection' | 'key'; name: string }
  /** Whether a member leaves, whom nobody removes. */
  isOwn: boolean
}

type Place = { params: { organizationId: string }; querystring: { identity_id: string } }

/** Reads whom or what an act concerns. Throws `Refused` also where there is no such thing, or `Unreachable`. */
export async function readConcern({ identityId, details }: AskedAct): Promise<Concern> {
  const place = {
    params: { organizationId: textOf(details, 'organizationId') },
    querystring: { identity_id: identityId },
  }
  const [{ organization }, concern] = await Promise.all([
    callBusiness('GET /api/organizations/:organizationId', place),
    readWhat(place, details),
  ])
  return { organization: organization.name, isOwn: false, ...concern }
}

async function readWhat(place: Place, details: AskedAct['details']): Promise<Partial<Concern>> {
  if ('memberId' in details) return readMember(place, textOf(details, 'memberId'))
  if ('invitationId' in details) return readInvitation(place, textOf(details, 'invitationId'))
  if ('domainId' in details) return readDomain(place, textOf(details, 'domainId'))
  if ('connectionId' in details) return readConnection(place, textOf(details, 'connectionId'))
  if ('keyId' in details) return readKey(place, textOf(details, 'keyId'))
  return {}
}

async function readMember({ params, querystring }: Place, memberId: string): Promise<Partial<Concern>> {
  const given = { params: { ...params, memberId }, querystring }
  const { member } = await callBusiness('GET /api/organizations/:organizationId/members/:memberId', given)
  const name = `${member.displayName} (@${member.handle})`
  return { what: { kind: 'member', name }, isOwn: member.identityId === querystring.identity_id }
}

async function readInvitation({ params, querystring }: Place, invitationId: string): Promise<Partial<Concern>> {
  const given = { params: { ...params, invitationId }, querystring }
  const { invitation } = await callBusiness('GET /api/organizations/:organizationId/invitations/:invitationId', given)
  const { handle, email } = invitation
  return { what: { kind: 'invitation', name: handle === null ? (email ?? '') : `@${handle}` } }
}

async function readDomain(place: Place, domainId: string): Promise<Partial<Concern>> {
  const { domains } = await callBusiness('GET /api/organizations/:organizationId/domains', place)
  const name = domains.find((each) => each.domainId === domainId)?.domain
  if (name === undefined) throw new Refused(404, 'domain_not_found', '')
  return { what: { kind: 'domain', name } }
}

async function readConnection({ params, querystring }: Place, connectionId: string): Promise<Partial<Concern>> {
  const given = { params: { ...params, connectionId }, querystring }
  const path = 'GET /api/organizations/:organizationId/sso-connections/:connectionId'
  const { connection } = await callBusiness(path, given)
  return { what: { kind: 'connection', name: connection.name } }
}

async function readKey(place: Place, keyId: string): Promise<Partial<Concern>> {
  const { keys } = await callBusiness('GET /api/organizations/:organizationId/keys', place)
  const version = keys.find((each) => each.keyId === keyId)?.version
  if (version === undefined) throw new Refused(404, 'key_not_found', '')
  return { what: { kind: 'key', name: String(version) } }
}

function textOf(details: AskedAct['details'], name: string): string {
  const value = details[name]
  return typeof value === 'string' ? value : ''
}
