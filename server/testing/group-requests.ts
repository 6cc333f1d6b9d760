import { createOrganization } from './organization.ts'
import { newHandle, times, type RequestClient } from './request-client.ts'
import { postForm } from './world.ts'

/** Makes every request about groups, and signs users in to an app that only a group may use. */
export async function useGroups({ world, send }: RequestClient): Promise<void> {
  const { admin } = world
  const root = '/api/admin/groups'
  const people = await times(() => world.person())
  const [person, other] = people
  if (!person || !other) throw new Error('no one registered')
  const newGroup = () => send(admin, `POST ${root}`, { key: newHandle(), displayName: 'A group' })
  const groups = await times(newGroup)
  const [{ groupId, key }] = groups
  await send(admin, `GET ${root}?limit=5`)
  await send(admin, `GET ${root}?key=${key}`)
  await send(admin, `GET ${root}/${groupId}`)
  await send(admin, `PATCH ${root}/${groupId}`, { displayName: 'Staff' })
  for (const each of groups) await send(admin, `PUT ${root}/${each.groupId}/members/${person.identityId}`)
  const add = people.map(({ identityId }) => identityId)
  await send(admin, `POST ${root}/${groupId}/members/batch`, { add })
  await send(admin, `GET ${root}/${groupId}/members?limit=5`)
  await send(admin, `DELETE ${root}/${groupId}/members/${other.identityId}`)

  const app = await world.app({
    allowedScopes: ['openid', 'offline_access', 'groups', 'roles'],
    access: { mode: 'restricted', groups: [key], contact: 'it@example.com' },
  })
  await send(admin, `PUT /api/admin/apps/${app.clientId}/webhook`, { url: 'http://localhost:9/hook' })
  const roles = `/api/admin/apps/${app.clientId}/roles` as const
  const assigned = { groups: [key], identities: add }
  const roleAssignments = [
    { role: 'viewer', ...assigned },
    { role: 'editor', ...assigned },
  ]
  await send(admin, `PUT ${roles}`, { roles: [{ key: 'viewer' }, { key: 'editor' }], roleAssignments })
  await send(admin, `PUT ${roles}`, { roles: [{ key: 'editor' }], roleAssignments: roleAssignments.slice(1) })
  await send(admin, `GET ${roles}`)
  const claims = `/api/admin/apps/${app.clientId}/claims` as const
  const mapping = { source: 'groups', scope: 'groups', map: { [key]: 'Staff' } } as const
  await send(admin, `PUT ${claims}`, { claims: [1, 2].map((nth) => ({ claim: `team_${nth}`, ...mapping })) })
  await send(admin, `GET ${claims}`)
  await send(admin, `POST ${claims}/preview`, { identityId: person.identityId })
  const { access_token: token, refresh_token: refreshToken } = await app.tokens(person, {
    scope: 'openid offline_access groups roles',
  })
  await send({ authorization: `Bearer ${token}` }, 'GET /api/oauth/userinfo')
  await postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token })
  await send(admin, `DELETE ${root}/${groupId}/members/${person.identityId}`)
  await app.refresh(refreshToken)
  const organizations = await times(async (nth) => createOrganization(world, people[nth] ?? person, `Acme ${nth}`))
  const forThem = await world.app({
    access: { mode: 'restricted', organizations: organizations.map(({ slug }) => slug) },
  })
  await forThem.refresh((await forThem.tokens(person)).refresh_token)
  await send(admin, `GET /api/admin/apps/${forThem.clientId}`)
  const deleted = await newGroup()
  await send(admin, `PUT ${root}/${deleted.groupId}/members/${person.identityId}`)
  await send(admin, `DELETE ${root}/${deleted.groupId}`)
}
