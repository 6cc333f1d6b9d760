import type { ResponseOf } from '@countersign/protocol/api'
import { isObject } from '@countersign/protocol/formats/json'
import { callBusiness } from '../api/business-call.ts'
import { ApiError } from '../api/call.ts'
import type { ShownAct } from './statement.ts'
import { atHandle } from '../text/handle.ts'

/**
 * The subject of an action within its organization, by the name that the server has for it.
 */
export type ActionSubject = {
  organization: string
  what?: { kind: 'member' | 'signatory' | 'invitation' | 'domain' | 'connection' | 'key'; name: string }
  /** The names of the people who form a council, by their identity. */
  people?: Map<string, string>
  /** True if the act concerns a member who is in the council of the organization. */
  isSignatory?: boolean
  /** True if the member leaves by themselves. */
  isOwn: boolean
}

type ActionLocation = { params: { organizationId: string }; querystring: { identity_id: string } }

type Concerning = Pick<ShownAct, 'organizationId' | 'identityId' | 'details'>

/** Loads the subject of an action. Throws `ApiError`, also if it does not exist, or `NetworkError`. */
export async function loadActionSubject({ organizationId, identityId, details }: Concerning): Promise<ActionSubject> {
  const place = { params: { organizationId }, querystring: { identity_id: identityId } }
  const [{ organization }, concern] = await Promise.all([
    callBusiness('GET /api/organizations/:organizationId', place),
    readWhat(place, details),
  ])
  return { organization: organization.name, isOwn: false, ...concern }
}

async function readWhat(place: ActionLocation, details: ShownAct['details']): Promise<Partial<ActionSubject>> {
  if ('identityId' in details) return readSignatory(place, textOf(details, 'identityId'))
  const founders = foundersIn(details)
  if (founders.length > 0)
    return {
      people: await readNames(
        place,
        founders.map(({ identityId }) => identityId),
      ),
    }
  if ('memberId' in details) return readMember(place, textOf(details, 'memberId'))
  if ('invitationId' in details) return readInvitation(place, textOf(details, 'invitationId'))
  if ('domainId' in details) return readDomain(place, textOf(details, 'domainId'))
  if ('connectionId' in details) return readConnection(place, textOf(details, 'connectionId'))
  if ('keyId' in details) return readKey(place, textOf(details, 'keyId'))
  return {}
}

/** Returns the people that the founding of a council names. */
export function foundersIn({
  from,
}: ShownAct['details']): { identityId: string; maySign: boolean; mayApprove: boolean }[] {
  const signatories = isObject(from) ? from['signatories'] : undefined
  if (!Array.isArray(signatories)) return []
  return signatories.map((each: unknown) => {
    const { identityId, maySign, mayApprove } = isObject(each) ? each : {}
    return { identityId: String(identityId), maySign: maySign === true, mayApprove: mayApprove === true }
  })
}

async function readSignatory(place: ActionLocation, identityId: string): Promise<Partial<ActionSubject>> {
  const name = (await readNames(place, [identityId])).get(identityId)
  if (name === undefined) throw new ApiError(404, 'member_not_found', '')
  return { what: { kind: 'signatory', name } }
}

/** Reads the names of members and signatories by their identities. */
async function readNames({ params, querystring }: ActionLocation, ids: string[]): Promise<Map<string, string>> {
  const { council } = await callBusiness('GET /api/organizations/:organizationId/council', { params, querystring })
  const names = new Map<string, string>()
  const note = (people: { identityId: string; displayName: string; handle: string }[]) => {
    for (const { identityId, displayName, handle } of people)
      if (ids.includes(identityId)) names.set(identityId, `${displayName} (${atHandle(handle)})`)
  }
  note(council.signatories)
  let cursor: string | null = ''
  while (names.size < new Set(ids).size && cursor !== null) {
    const page: Record<string, string> = { limit: '100', ...(cursor !== '' && { cursor }) }
    const given = { params, querystring: { ...querystring, ...page } }
    const found: ResponseOf<'GET /api/organizations/:organizationId/members'> = await callBusiness(
      'GET /api/organizations/:organizationId/members',
      given,
    )
    note(found.members)
    cursor = found.nextCursor ?? null
  }
  return names
}

async function readMember({ params, querystring }: ActionLocation, memberId: string): Promise<Partial<ActionSubject>> {
  const given = { params: { ...params, memberId }, querystring }
  const [{ member }, { council }] = await Promise.all([
    callBusiness('GET /api/organizations/:organizationId/members/:memberId', given),
    callBusiness('GET /api/organizations/:organizationId/council', { params, querystring }),
  ])
  const name = `${member.displayName} (${atHandle(member.handle)})`
  const isSignatory = council.signatories.some(({ identityId }) => identityId === member.identityId)
  return { what: { kind: 'member', name }, isSignatory, isOwn: member.identityId === querystring.identity_id }
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
