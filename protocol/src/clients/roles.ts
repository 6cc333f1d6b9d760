import { Type, type Static } from 'typebox'
import { GroupKey } from '../accounts/groups.ts'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { ClientId, IdentityId } from '../ids.ts'
import { OptionalIfMatchDigest } from '../values.ts'

/** Key of a role of an app: ASCII only, so that no two keys look alike. */
export const RoleKey = Type.String({
  pattern: '^[a-z0-9][a-z0-9._:/-]{0,62}$',
  description: 'Name of the role in the claim roles',
})

const displayName = Type.String({ minLength: 1, maxLength: limits.displayNameCharactersMax })

/** Who has a role of an app: the members of groups, and single identities. */
export const RoleAssignment = Type.Object({
  role: Type.String(),
  groups: Type.Array(Type.String(), { description: 'Keys of groups' }),
  identities: Type.Array(IdentityId),
})
export type RoleAssignment = Static<typeof RoleAssignment>

/** The roles of an app and who has them. `identities` names those that have a role by themselves. */
export const AppRoles = Type.Object({
  version: Type.String({
    description: 'Changes with the roles and with who has them; `If-Match` of a replacement can name it',
  }),
  roles: Type.Array(Type.Object({ key: Type.String(), displayName: Type.String() })),
  roleAssignments: Type.Array(RoleAssignment),
  identities: Type.Array(Type.Object({ identityId: IdentityId, handle: Type.String(), displayName: Type.String() })),
})
export type AppRoles = Static<typeof AppRoles>

export const AppRolesChange = Type.Object(
  {
    roles: Type.Array(
      Type.Object({ key: RoleKey, displayName: Type.Optional(displayName) }, { additionalProperties: false }),
      { maxItems: limits.rolesPerAppMax },
    ),
    roleAssignments: Type.Array(
      Type.Object(
        {
          role: RoleKey,
          groups: Type.Optional(Type.Array(GroupKey, { maxItems: limits.groupsPerRoleMax, uniqueItems: true })),
          identities: Type.Optional(
            Type.Array(IdentityId, { maxItems: limits.identitiesPerRoleMax, uniqueItems: true }),
          ),
        },
        { additionalProperties: false },
      ),
      { maxItems: limits.rolesPerAppMax },
    ),
  },
  { additionalProperties: false },
)
export type AppRolesChange = Static<typeof AppRolesChange>

const params = Type.Object({ clientId: ClientId })
const reading = { security: 'admin', cors: 'auth host', permission: 'apps.read' } as const

export const getAppRoles = endpoint(
  'GET /api/admin/apps/:clientId/roles',
  { ...reading, summary: 'Get the roles of an app and who has them' },
  { params },
  { 200: AppRoles },
)

export const replaceAppRoles = endpoint(
  'PUT /api/admin/apps/:clientId/roles',
  { ...reading, permission: 'apps.manage', summary: 'Replace the roles of an app and who has them' },
  { params, headers: OptionalIfMatchDigest, body: AppRolesChange },
  { 200: AppRoles },
)
