import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { ClientId, IdentityId } from '../ids.ts'
import { RoleKey } from './roles.ts'

const text = { minLength: 1, maxLength: limits.mappedValueCharactersMax }

/** Scopes that can give a mapped claim. */
const ClaimScope = Type.Enum(['openid', 'profile', 'email', 'groups', 'roles'])

/** Where a mapped claim is: in ID tokens, in the answers of the userinfo endpoint, or in JWT access tokens. */
export const ClaimPlace = Type.Enum(['id_token', 'userinfo', 'access_token'])
export type ClaimPlace = Static<typeof ClaimPlace>

const ClaimForm = Type.Enum(['array', 'string'])

const mapping = {
  claim: Type.String({
    pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$',
    description: 'Name of the claim. No registered claim, and none of this service',
  }),
  source: Type.String({
    pattern: '^(groups|roles|literal:[^\\n]+)$',
    maxLength: 'literal:'.length + limits.mappedValueCharactersMax,
    description: 'groups, roles, or literal: with a text',
  }),
  scope: ClaimScope,
}
const Places = Type.Array(ClaimPlace, { minItems: 1, uniqueItems: true })
const optional = {
  first: Type.Optional(
    Type.Array(RoleKey, {
      minItems: 1,
      maxItems: limits.groupsPerAppMax,
      uniqueItems: true,
      description: 'The first of these groups or roles that the user has, of a claim as string',
    }),
  ),
  map: Type.Optional(
    Type.Record(Type.String(), Type.String(text), {
      minProperties: 1,
      maxProperties: limits.groupsPerAppMax,
      description: 'The value for each group or role. Others are left out',
    }),
  ),
  default: Type.Optional(Type.String({ ...text, description: 'The value if the user has none of them' })),
}

/** A claim of an app that is made of the groups or roles of a user, or of a fixed text. */
export const ClaimMapping = Type.Object({ ...mapping, in: Places, as: ClaimForm, ...optional })
export type ClaimMapping = Static<typeof ClaimMapping>

export const ClaimMappings = Type.Object({ claims: Type.Array(ClaimMapping) })
export type ClaimMappings = Static<typeof ClaimMappings>

const ClaimMappingInput = Type.Object(
  {
    ...mapping,
    in: Type.Optional({ ...Places, description: 'id_token and userinfo by default' }),
    as: Type.Optional({ ...ClaimForm, description: 'array by default; string for a literal' }),
    ...optional,
  },
  { additionalProperties: false },
)

export const ClaimMappingsChange = Type.Object(
  { claims: Type.Array(ClaimMappingInput, { maxItems: limits.claimsPerAppMax }) },
  { additionalProperties: false },
)
export type ClaimMappingsChange = Static<typeof ClaimMappingsChange>

const Claims = Type.Record(Type.String(), Type.Unknown())
const Bytes = Type.Integer({ description: 'JSON text of groups, roles and mapped claims, before any is left out' })

/** What an app would learn about an identity. Not a token. */
export const ClaimsPreview = Type.Object({
  scope: Type.String(),
  hasAccess: Type.Boolean({ description: 'The identity may use the app' }),
  idToken: Claims,
  userinfo: Claims,
  accessToken: Claims,
  bytes: Type.Object({ idToken: Bytes, userinfo: Bytes, accessToken: Bytes }),
  omitted: Type.Array(Type.String(), { description: 'Claims that are too large for a token' }),
})
export type ClaimsPreview = Static<typeof ClaimsPreview>

const params = Type.Object({ clientId: ClientId })
const reading = { security: 'admin', cors: 'auth host', permission: 'apps.read' } as const
const managing = { ...reading, permission: 'apps.manage' } as const

export const getAppClaims = endpoint(
  'GET /api/admin/apps/:clientId/claims',
  { ...reading, summary: 'Get the mapped claims of an app' },
  { params },
  { 200: ClaimMappings },
)

export const replaceAppClaims = endpoint(
  'PUT /api/admin/apps/:clientId/claims',
  { ...managing, summary: 'Replace the mapped claims of an app' },
  { params, body: ClaimMappingsChange },
  { 200: ClaimMappings },
)

export const previewAppClaims = endpoint(
  'POST /api/admin/apps/:clientId/claims/preview',
  { ...managing, summary: 'Preview what an app learns about an identity; also needs people.read' },
  {
    params,
    body: Type.Object(
      {
        identityId: IdentityId,
        scope: Type.Optional(Type.String({ maxLength: 300, description: 'All that the app may request by default' })),
      },
      { additionalProperties: false },
    ),
  },
  { 200: ClaimsPreview },
)
