import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { resourceKeyPattern, resourceScopePattern } from '../formats/scope.ts'
import { ClientId } from '../ids.ts'
import { nullable } from '../values.ts'

const Status = Type.Union([Type.Literal('active'), Type.Literal('disabled')])
const Scope = Type.String({ pattern: resourceScopePattern, examples: ['events.read'] })

/** Resource of an app, at which other apps may act with a user's consent. */
export const Resource = Type.Object({
  resourceKey: Type.String(),
  displayName: Type.String(),
  description: nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  scopeDescriptions: Type.Record(Type.String(), Type.String(), {
    description: 'Description of each scope by the owner; a scope may have none',
  }),
  audience: Type.String({ description: 'The aud claim of tokens for the resource' }),
  status: Status,
})
export type Resource = Static<typeof Resource>

/** Resource with the app that owns it. */
export const OwnedResource = Type.Object({
  ...Resource.properties,
  ownerAppClientId: ClientId,
  ownerAppName: Type.String(),
  ownerAppDescription: nullable(Type.String()),
  ownerAppIconUrl: nullable(Type.String()),
  ownerAppWebsiteUrl: nullable(Type.String()),
})
export type OwnedResource = Static<typeof OwnedResource>

const settings = {
  displayName: Type.String({ minLength: 1, maxLength: 80, examples: ['Calendar'] }),
  description: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 500 }))),
  scopes: Type.Array(Scope, { minItems: 1, maxItems: limits.scopesPerResourceMax, uniqueItems: true }),
  scopeDescriptions: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 200 }), { maxProperties: limits.scopesPerResourceMax }),
  ),
  audience: Type.String({
    minLength: 1,
    maxLength: 2000,
    description: 'Absolute URI without a fragment',
    examples: ['https://app.example/events'],
  }),
}

export const NewResource = Type.Object(
  { resourceKey: Type.String({ pattern: resourceKeyPattern, examples: ['events'] }), ...settings },
  { additionalProperties: false },
)
export type NewResource = Static<typeof NewResource>

/** Resource as a document declares it. What is absent has its default. */
export const DeclaredResource = Type.Object(
  { ...NewResource.properties, status: Type.Optional(Status) },
  { additionalProperties: false },
)
export type DeclaredResource = Static<typeof DeclaredResource>

export const ResourceChange = Type.Partial(Type.Object({ ...settings, status: Status }), {
  additionalProperties: false,
  minProperties: 1,
})
export type ResourceChange = Static<typeof ResourceChange>

const ByClientId = Type.Object({ clientId: ClientId })
const ByKey = Type.Object({ clientId: ClientId, resourceKey: Type.String({ minLength: 1, maxLength: 200 }) })

/** Bodies and answers of the operations on resources, shared by the admin API and the developer API. */
export const operations = {
  create: { takes: { params: ByClientId, body: NewResource }, answers: { 201: Resource } },
  list: { takes: { params: ByClientId }, answers: { 200: Type.Object({ resources: Type.Array(Resource) }) } },
  change: { takes: { params: ByKey, body: ResourceChange }, answers: { 200: Resource } },
} as const

export const getResourceMetadata = endpoint(
  'GET /api/oauth/resource/:resourceKey',
  { security: 'none', cors: 'any origin', summary: 'Get the public metadata of a resource and of its app' },
  { params: Type.Object({ resourceKey: Type.String({ minLength: 1, maxLength: 200 }) }) },
  { 200: Type.Object({ resource: OwnedResource }) },
)

const reading = { security: 'admin', cors: 'auth host', permission: 'apps.read' } as const
const managing = { ...reading, permission: 'apps.manage' } as const

export const createResource = endpoint(
  'POST /api/admin/apps/:clientId/resources',
  { ...managing, summary: 'Create a resource of an app that other apps can use' },
  operations.create.takes,
  operations.create.answers,
)

export const listResources = endpoint(
  'GET /api/admin/apps/:clientId/resources',
  { ...reading, summary: 'List the resources of an app' },
  operations.list.takes,
  operations.list.answers,
)

export const updateResource = endpoint(
  'PATCH /api/admin/apps/:clientId/resources/:resourceKey',
  { ...managing, summary: 'Update, disable or enable a resource of an app' },
  operations.change.takes,
  operations.change.answers,
)
