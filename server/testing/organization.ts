import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { Person, World } from './world.ts'

type Asker = Pick<Person, 'headers'>
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Asks the business host as somebody: by a method, and a path after `/api`. */
export function askBusiness({ business }: World, { headers }: Asker, what: `${Method} ${string}`, payload?: object) {
  const [method, path] = what.split(' ') as [Method, string]
  return business.inject({ method, url: `/api${path}`, headers, ...(payload && { payload }) })
}

/** An organization that somebody has just made. */
export async function makeOrganization(world: World, owner: Person, name = 'Acme'): Promise<OwnOrganization> {
  const answer = await askBusiness(world, owner, 'POST /organizations', { name, identityId: owner.identityId })
  if (answer.statusCode !== 201) throw new Error(`no organization: ${answer.body}`)
  return answer.json().organization
}

/** Invites a person by their handle, who accepts; answers what they are then. */
export async function join(
  world: World,
  { id, owner, role }: { id: string; owner: Asker; role: OrganizationRole },
  person: Person,
): Promise<OrganizationMember> {
  const invited = await askBusiness(world, owner, `POST /organizations/${id}/invitations`, {
    handle: person.handle,
    role,
  })
  if (invited.statusCode !== 201) throw new Error(`no invitation: ${invited.body}`)
  const { identityId } = person
  const path = `/invitations/${invited.json().token}/accept`
  const accepted = await askBusiness(world, person, `POST ${path}`, { identityId })
  if (accepted.statusCode !== 201) throw new Error(`not accepted: ${accepted.body}`)
  const joined = (await membersOf(world, id, owner)).find((member) => member.identityId === identityId)
  if (!joined) throw new Error(`${person.handle} accepted, and is no member`)
  return joined
}

export async function membersOf(world: World, id: string, asker: Asker): Promise<OrganizationMember[]> {
  const answer = await askBusiness(world, asker, `GET /organizations/${id}/members`)
  if (answer.statusCode !== 200) throw new Error(`no members: ${answer.body}`)
  return answer.json().members
}

/** Proves again with the passkey that it is them. */
export async function reauthenticate({ api }: World, { headers, authenticator }: Person): Promise<void> {
  const post = (step: string, payload: object) =>
    api.inject({ method: 'POST', url: `/api/auth/reauthenticate/${step}`, headers, payload })
  const { flowId, options } = (await post('start', {})).json()
  const answer = await post('finish', { flowId, credential: authenticator.authenticate(options) })
  if (answer.statusCode !== 200) throw new Error(`not proved again: ${answer.body}`)
}
