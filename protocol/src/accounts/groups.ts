import { Type, type Static } from 'typebox'
import { endpoint, NoContent } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { IdentityId, OrganizationId } from '../ids.ts'
import { Timestamp, Uuid, nullable } from '../values.ts'

const reading = { security: 'admin', cors: 'auth host', permission: 'groups.read' } as const
const managing = { ...reading, permission: 'groups.manage' } as const

/** Key of a group: ASCII only, so that no two keys look alike. */
export const GroupKey = Type.String({
  pattern: '^[a-z0-9][a-z0-9._:/-]{0,62}$',
  description: 'Name of the group in claims and settings. It never changes',
})

/** How a group is shown to operators. */
const shown = {
  displayName: Type.String({ minLength: 1, maxLength: limits.displayNameCharactersMax }),
  description: nullable(Type.String({ minLength: 1, maxLength: 500 })),
}

const isProtected = Type.Boolean({
  description: 'Only operators with `operators.manage` change the group and its members, after recent authentication',
})

export const Group = Type.Object({
  groupId: Uuid,
  key: Type.String(),
  displayName: Type.String(),
  description: nullable(Type.String()),
  protected: isProtected,
  organizationId: nullable({
    ...OrganizationId,
    description: 'The organization whose identity providers name the members; null for a group of operators',
  }),
  managedBy: nullable(
    Type.String({ description: '`scim:` and the ID of the SCIM token that alone changes the group and its members' }),
  ),
  memberCount: Type.Integer(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Group = Static<typeof Group>

/** Identity in a group, and who made it a member. */
export const GroupMember = Type.Object({
  identityId: IdentityId,
  handle: Type.String(),
  displayName: Type.String(),
  sources: Type.Array(Type.String(), {
    description: '`manual` for operators; `upstream:` and the ID of an SSO connection for its identity provider',
  }),
  addedAt: Timestamp,
})
export type GroupMember = Static<typeof GroupMember>

const ByGroupId = Type.Object({ groupId: Uuid })
const ByMember = Type.Object({ groupId: Uuid, identityId: IdentityId })

const pageLimit = Type.Optional(
  Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; the default is 100' }),
)

export const listGroups = endpoint(
  'GET /api/admin/groups',
  { ...reading, summary: 'List the groups, by key' },
  {
    querystring: Type.Object({
      key: Type.Optional(GroupKey),
      cursor: Type.Optional(GroupKey),
      limit: pageLimit,
    }),
  },
  { 200: Type.Object({ groups: Type.Array(Group), nextCursor: nullable(GroupKey) }) },
)

export const createGroup = endpoint(
  'POST /api/admin/groups',
  { ...managing, summary: 'Create a group' },
  {
    body: Type.Object(
      {
        key: GroupKey,
        displayName: shown.displayName,
        description: Type.Optional(shown.description),
        protected: Type.Optional(isProtected),
      },
      { additionalProperties: false },
    ),
  },
  { 201: Group },
)

export const getGroup = endpoint(
  'GET /api/admin/groups/:groupId',
  { ...reading, summary: 'Get a group' },
  { params: ByGroupId },
  { 200: Group },
)

export const updateGroup = endpoint(
  'PATCH /api/admin/groups/:groupId',
  { ...managing, summary: 'Change the name, the description or the protection of a group' },
  {
    params: ByGroupId,
    body: Type.Partial(Type.Object({ ...shown, protected: isProtected }), {
      additionalProperties: false,
      minProperties: 1,
    }),
  },
  { 200: Group },
)

export const deleteGroup = endpoint(
  'DELETE /api/admin/groups/:groupId',
  { ...managing, summary: 'Delete a group. A restricted app that named only this group is closed to everyone' },
  { params: ByGroupId },
  { 204: NoContent },
)

export const listGroupMembers = endpoint(
  'GET /api/admin/groups/:groupId/members',
  { ...reading, summary: 'List the members of a group, by ID' },
  { params: ByGroupId, querystring: Type.Object({ cursor: Type.Optional(IdentityId), limit: pageLimit }) },
  { 200: Type.Object({ members: Type.Array(GroupMember), nextCursor: nullable(IdentityId) }) },
)

export const addGroupMember = endpoint(
  'PUT /api/admin/groups/:groupId/members/:identityId',
  { ...managing, summary: 'Make an identity a member of a group, if it is not' },
  { params: ByMember },
  { 204: NoContent },
)

export const removeGroupMember = endpoint(
  'DELETE /api/admin/groups/:groupId/members/:identityId',
  { ...managing, summary: 'Remove an identity from a group, if it is a member' },
  { params: ByMember },
  { 204: NoContent },
)

const identityIds = Type.Optional(Type.Array(IdentityId, { maxItems: limits.groupMemberChangesMax, uniqueItems: true }))

export const changeGroupMembers = endpoint(
  'POST /api/admin/groups/:groupId/members/batch',
  {
    ...managing,
    summary: 'Add and remove up to 1,000 members of a group, all or none; counts those that changed',
  },
  {
    params: ByGroupId,
    body: Type.Object({ add: identityIds, remove: identityIds }, { additionalProperties: false, minProperties: 1 }),
  },
  { 200: Type.Object({ added: Type.Integer(), removed: Type.Integer(), memberCount: Type.Integer() }) },
)
