import type { Group } from '@countersign/protocol/accounts/groups'
import type { AppRolesChange } from '@countersign/protocol/clients/roles'
import type { Person, TestApp, TestWorld } from './world.ts'

type Headers = Record<string, string>
type Roles = { roles: { key: string; displayName?: string }[]; roleAssignments?: Assignment[] }
type Assignment = { role: string; groups?: string[]; identities?: string[] }

/** Replaces the roles of an app, by ADMIN_TOKEN unless other headers are given. */
export function putRoles(world: TestWorld, { clientId }: Pick<TestApp, 'clientId'>, sent: Roles, by?: Headers) {
  const payload: Record<keyof AppRolesChange, unknown> = { roleAssignments: [], ...sent }
  const url = `/api/admin/apps/${clientId}/roles`
  return world.api.inject({ method: 'PUT', url, headers: by ?? world.admin, payload })
}

/** Creates a group with members. */
export async function groupOf(world: TestWorld, key: string, ...people: Pick<Person, 'identityId'>[]): Promise<Group> {
  const url = '/api/admin/groups'
  const payload = { key, displayName: key }
  const made = await world.api.inject({ method: 'POST', url, headers: world.admin, payload })
  if (made.statusCode !== 201) throw new Error(`no group: ${made.body}`)
  const group = made.json<Group>()
  const add = people.map(({ identityId }) => identityId)
  const batch = { method: 'POST', url: `${url}/${group.groupId}/members/batch`, headers: world.admin } as const
  const joined = await world.api.inject({ ...batch, payload: { add } })
  if (joined.statusCode !== 200) throw new Error(`no members: ${joined.body}`)
  return group
}

/** Replaces the mapped claims of an app, by ADMIN_TOKEN unless other headers are given. */
export function putClaims(world: TestWorld, { clientId }: Pick<TestApp, 'clientId'>, claims: object[], by?: Headers) {
  const url = `/api/admin/apps/${clientId}/claims`
  return world.api.inject({ method: 'PUT', url, headers: by ?? world.admin, payload: { claims } })
}
