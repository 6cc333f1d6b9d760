import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { resourceKeyPattern, resourceScopePattern } from '../formats/resource.ts'
import { ClientId, OrNull } from '../values.ts'

const Status = Type.Union([Type.Literal('active'), Type.Literal('disabled')])
const Scope = Type.String({ pattern: resourceScopePattern })

/** What an app offers others to act at, with a person's consent. */
export const Resource = Type.Object({
  resourceKey: Type.String(),
  displayName: Type.String(),
  description: OrNull(Type.String()),
  scopes: Type.Array(Type.String()),
  scopeDescriptions: Type.Record(Type.String(), Type.String(), {
    description: 'By scope, what it lets an app do, in the words of the owner; a scope may have none',
  }),
  audience: Type.String({ description: 'The aud of the tokens for it' }),
  status: Status,
})
export type Resource = Static<typeof Resource>

/** A resource with the app whose it is. */
export const OwnedResource = Type.Object({
  ...Resource.properties,
  ownerAppClientId: ClientId,
  ownerAppName: Type.String(),
  ownerAppDescription: OrNull(Type.String()),
  ownerAppIconUrl: OrNull(Type.String()),
  ownerAppWebsiteUrl: OrNull(Type.String()),
})
export type OwnedResource = Static<typeof OwnedResource>

const settings = {
  displayName: Type.String({ minLength: 1, maxLength: 80 }),
  description: Type.Optional(OrNull(Type.String({ minLength: 1, maxLength: 500 }))),
  scopes: Type.Array(Scope, { minItems: 1, maxItems: limits.scopesPerResourceMax, uniqueItems: true }),
  scopeDescriptions: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 200 }), { maxProperties: limits.scopesPerResourceMax }),
  ),
  audience: Type.String({ minLength: 1, maxLength: 2000, description: 'An absolute URI, without a fragment' }),
}

export const NewResource = Type.Object(
  { resourceKey: Type.String({ pattern: resourceKeyPattern }), ...settings },
  { additionalProperties: false },
)
export type NewResource = Static<typeof NewResource>

export const ResourceChange = Type.Partial(Type.Object({ ...settings, status: Status }), {
  additionalProperties: false,
  minProperties: 1,
})
export type ResourceChange = Static<typeof ResourceChange>

const ByClientId = Type.Object({ clientId: ClientId })
const ByKey = Type.Object({ clientId: ClientId, resourceKey: Type.String({ minLength: 1, maxLength: 200 }) })

/** What each operation on the resources of an app takes and answers, whoever may ask for it. */
export const operations = {
  create: { takes: { params: ByClientId, body: NewResource }, answers: { 201: Resource } },
  list: { takes: { params: ByClientId }, answers: { 200: Type.Object({ resources: Type.Array(Resource) }) } },
  change: { takes: { params: ByKey, body: ResourceChange }, answers: { 200: Resource } },
} as const

export const readResource = endpoint(
  'GET /api/oauth/resource/:resourceKey',
  { security: 'none', cors: 'any origin', summary: 'Public metadata of a resource, and of the app that offers it' },
  { params: Type.Object({ resourceKey: Type.String({ minLength: 1, maxLength: 200 }) }) },
  { 200: Type.Object({ resource: OwnedResource }) },
)

const admin = { security: 'admin', cors: 'no origin' } as const

export const createResource = endpoint(
  'POST /api/admin/apps/:clientId/resources',
  { ...admin, summary: 'Offer a resource of an app to other apps' },
  operations.create.takes,
  operations.create.answers,
)

export const listResources = endpoint(
  'GET /api/admin/apps/:clientId/resources',
  { ...admin, summary: 'List the resources of an app' },
  operations.list.takes,
  operations.list.answers,
)

export const changeResource = endpoint(
  'PATCH /api/admin/apps/:clientId/resources/:resourceKey',
  { ...admin, summary: 'Change a resource of an app, disable it, or enable it' },
  operations.change.takes,
  operations.change.answers,
)
