import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { Person, TestWorld } from './world.ts'

type Requester = Pick<Person, 'headers'>
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Sends a request of a user to the business host: by a method, and a path after `/api`. */
export function businessRequest(
  { business }: TestWorld,
  { headers }: Requester,
  what: `${Method} ${string}`,
  payload?: object,
) {
  const [method, path] = what.split(' ') as [Method, string]
  return business.inject({ method, url: `/api${path}`, headers, ...(payload && { payload }) })
}

/** Creates an organization. */
export async function createOrganization(world: TestWorld, owner: Person, name = 'Acme'): Promise<OwnOrganization> {
  const answer = await businessRequest(world, owner, 'POST /organizations', { name, identityId: owner.identityId })
  if (answer.statusCode !== 201) throw new Error(`organization not created: ${answer.body}`)
  return answer.json().organization
}

/** Invites a user by handle, who accepts; returns their membership. */
export async function join(
  world: TestWorld,
  { id, owner, role }: { id: string; owner: Requester; role: OrganizationRole },
  person: Person,
): Promise<OrganizationMember> {
  const invited = await businessRequest(world, owner, `POST /organizations/${id}/invitations`, {
    handle: person.handle,
    role,
  })
  if (invited.statusCode !== 201) throw new Error(`invitation not created: ${invited.body}`)
  const { identityId } = person
  const path = `/invitations/${invited.json().token}/accept`
  const accepted = await businessRequest(world, person, `POST ${path}`, { identityId })
  if (accepted.statusCode !== 201) throw new Error(`invitation not accepted: ${accepted.body}`)
  const joined = (await membersOf(world, id, owner)).find((member) => member.identityId === identityId)
  if (!joined) throw new Error(`${person.handle} accepted but is not a member`)
  return joined
}

export async function membersOf(world: TestWorld, id: string, requester: Requester): Promise<OrganizationMember[]> {
  const answer = await businessRequest(world, requester, `GET /organizations/${id}/members`)
  if (answer.statusCode !== 200) throw new Error(`members not listed: ${answer.body}`)
  return answer.json().members
}

/** Re-authenticates with the passkey. */
export async function reauthenticate({ api }: TestWorld, { headers, authenticator }: Person): Promise<void> {
  const post = (step: string, payload: object) =>
    api.inject({ method: 'POST', url: `/api/auth/reauthenticate/${step}`, headers, payload })
  const { flowId, options } = (await post('start', {})).json()
  const answer = await post('finish', { flowId, credential: authenticator.authenticate(options) })
  if (answer.statusCode !== 200) throw new Error(`re-authentication failed: ${answer.body}`)
}
