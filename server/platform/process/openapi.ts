import * as account from '@countersign/protocol/accounts/account'
import * as accountInvitations from '@countersign/protocol/accounts/invitations'
import * as adminTokens from '@countersign/protocol/accounts/admin-tokens'
import * as appKeys from '@countersign/protocol/oauth/app-keys'
import * as apps from '@countersign/protocol/clients/apps'
import * as audit from '@countersign/protocol/operations/audit'
import * as scimTokens from '@countersign/protocol/operations/scim-tokens'
import * as sinks from '@countersign/protocol/operations/sinks'
import * as people from '@countersign/protocol/operations/people'
import * as playground from '@countersign/protocol/operations/playground'
import * as authorizations from '@countersign/protocol/oauth/authorizations'
import * as backup from '@countersign/protocol/operations/backup'
import * as developer from '@countersign/protocol/clients/developer'
import * as delegations from '@countersign/protocol/oauth/delegations'
import * as deviceApprovals from '@countersign/protocol/accounts/device-approvals'
import { type AnyEndpoint, ErrorBody, isEndpoint, type Security } from '@countersign/protocol/endpoint'
import * as fedcm from '@countersign/protocol/oauth/fedcm'
import * as groups from '@countersign/protocol/accounts/groups'
import * as identities from '@countersign/protocol/accounts/identities'
import * as keys from '@countersign/protocol/accounts/keys'
import * as oauth from '@countersign/protocol/oauth/authorize'
import * as health from '@countersign/protocol/operations/health'
import * as operations from '@countersign/protocol/operations'
import * as operators from '@countersign/protocol/accounts/operators'
import * as invitations from '@countersign/protocol/organizations/invitations'
import * as organizations from '@countersign/protocol/organizations/organizations'
import * as organizationActs from '@countersign/protocol/organizations/acts'
import * as organizationCouncil from '@countersign/protocol/organizations/council'
import * as organizationDomains from '@countersign/protocol/organizations/domains'
import * as organizationKeys from '@countersign/protocol/organizations/keys'
import * as organizationOversight from '@countersign/protocol/organizations/operator-view'
import * as organizationPictures from '@countersign/protocol/organizations/pictures'
import * as organizationProposals from '@countersign/protocol/organizations/proposals'
import * as passkeys from '@countersign/protocol/accounts/passkeys'
import * as organizationDocuments from '@countersign/protocol/signing/organization-documents'
import * as pendingSigning from '@countersign/protocol/signing/pending-signing'
import * as pictures from '@countersign/protocol/pictures'
import * as pushedRequests from '@countersign/protocol/oauth/pushed-requests'
import * as receipts from '@countersign/protocol/signing/receipts'
import * as claims from '@countersign/protocol/clients/claims'
import * as resources from '@countersign/protocol/clients/resources'
import * as roles from '@countersign/protocol/clients/roles'
import * as sessions from '@countersign/protocol/accounts/sessions'
import * as configuration from '@countersign/protocol/operations/configuration'
import * as settings from '@countersign/protocol/operations/settings'
import * as keyReset from '@countersign/protocol/signing/key-reset'
import * as signingKeys from '@countersign/protocol/signing/keys'
import * as signing from '@countersign/protocol/signing/signing'
import * as identityDeletion from '@countersign/protocol/accounts/deletion'
import * as registrationEmail from '@countersign/protocol/accounts/registration/email'
import * as suspension from '@countersign/protocol/accounts/suspension'
import * as recoveryLinks from '@countersign/protocol/accounts/recovery/links'
import * as sso from '@countersign/protocol/organizations/sso'
import * as tokenKeys from '@countersign/protocol/oauth/token-keys'
import * as transparency from '@countersign/protocol/signing/transparency'
import { IdentityId } from '@countersign/protocol/ids'
import { webhookBodies } from '@countersign/protocol/clients/webhook-events'
import * as serviceWebhooks from '@countersign/protocol/clients/service-webhooks'
import * as webhooks from '@countersign/protocol/clients/webhooks'
import { Type } from 'typebox'
import { type Config, version } from '#platform/config/config.ts'
import { type Components, createComponents } from './openapi-schemas.ts'
import type { BuiltPages } from '#platform/documentation/built-pages.ts'
import { compressText } from '#platform/documentation/compressed.ts'
import { referenceRoutes } from '#platform/documentation/reference.ts'
import type { Host } from '#platform/http/host.ts'

const developerPortal = 'Developer portal'

const modules = {
  'Signing in': { ...passkeys, ...registrationEmail },
  Sessions: sessions,
  Identities: identities,
  Pictures: pictures,
  Account: account,
  Keys: { ...keys, ...appKeys, ...deviceApprovals },
  'OAuth and OpenID Connect': { ...oauth, ...authorizations, ...delegations, ...pushedRequests },
  'Signing in by the browser (FedCM)': fedcm,
  Organizations: {
    ...invitations,
    ...organizations,
    ...organizationActs,
    ...organizationPictures,
    ...organizationProposals,
    ...organizationCouncil,
    ...organizationOversight,
    ...organizationDomains,
    ...organizationKeys,
    ...sso,
  },
  Signing: { ...signing, ...signingKeys, ...keyReset, ...pendingSigning, ...organizationDocuments, ...receipts },
  'Key transparency': transparency,
  Apps: { ...apps, ...roles, ...claims },
  [developerPortal]: developer,
  Resources: resources,
  Webhooks: { ...webhooks, ...serviceWebhooks },
  'Token-signing keys': tokenKeys,
  Groups: groups,
  'Invitations to register': accountInvitations,
  People: { ...people, ...suspension, ...identityDeletion, ...recoveryLinks },
  Operators: { ...operators, ...adminTokens },
  Settings: settings,
  Configuration: configuration,
  Audit: audit,
  'SCIM tokens': scimTokens,
  Sinks: sinks,
  Health: health,
  Backup: backup,
  Operations: { ...operations, ...playground },
}

const aboutShownUser =
  'With a user ID in the header Countersign-User, the answer is 409 session_changed if the session is of another user'

/** Authentication methods, by the names that operations refer to. */
const securitySchemes = {
  session: {
    type: 'http',
    scheme: 'bearer',
    description:
      'Session token (cs_session_…), which POST /api/auth/login/finish returns for an assertion of a passkey of the ' +
      `user, or the session cookie. ${aboutShownUser}`,
  },
  federated_session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-countersign-fedcm',
    description: 'FedCM session cookie, which only the browser itself can send',
  },
  access_token: { type: 'http', scheme: 'bearer', description: 'Access token, opaque or JWT' },
  admin: { type: 'http', scheme: 'bearer', description: 'Admin token (cs_admin_…), or ADMIN_TOKEN' },
  operator_session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-countersign',
    description: `Session cookie of an operator, from a page of the auth host. ${aboutShownUser}`,
  },
  client: { type: 'http', scheme: 'basic', description: 'Client ID and secret, also accepted as body parameters' },
} as const

/** An endpoint in the document. `operationId` is the export name in `protocol/` and of the generated function. */
type Listed = { tag: string; operationId: string; endpoint: AnyEndpoint }

/** All endpoints of the interface with their tags. */
export const endpoints: Listed[] = Object.entries(modules).flatMap(([tag, module]) =>
  Object.entries<unknown>(module).flatMap(([operationId, endpoint]) =>
    isEndpoint(endpoint) ? [{ tag, operationId, endpoint }] : [],
  ),
)

/** Schemas that `protocol/` exports by name. */
const named: Record<string, unknown> = Object.fromEntries(
  [{ Error: ErrorBody }, ...Object.values(modules)].flatMap((module) => Object.entries<unknown>(module)),
)

type Settings = Pick<Config, 'baseUrl' | 'authUrl' | 'businessUrl' | 'developerPortal' | 'demo'>

/** Returns the names of the groups of endpoints that this service offers. */
function offeredTags(config: Pick<Settings, 'developerPortal'>): string[] {
  return Object.keys(modules).filter((tag) => tag !== developerPortal || config.developerPortal)
}

/** Builds the OpenAPI 3.1 document from the endpoint definitions that also validate and serialize. */
export function openApiDocument(config: Settings) {
  const tags = offeredTags(config)
  const paths: Record<string, Record<string, Operation>> = {}
  const components = createComponents(named)
  addWebhookBodies(components)
  for (const listed of endpoints.filter(({ tag }) => tags.includes(tag))) {
    const { endpoint } = listed
    if (endpoint.name === signing.createDemoSigningRequest.name && !config.demo) continue
    const path = endpoint.url.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operationOf(listed, components, config) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version,
      description: 'Sign in with a passkey, as the identity you choose.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: config.baseUrl.origin, description: 'API host' }] as [Server],
    tags: tags.map((name) => ({ name })),
    paths,
    components: { securitySchemes, schemas: components.schemas },
  }
}

/** Parameter of every endpoint of the admin API. */
const ActingOperator = Type.Object({
  identity_id: Type.Optional(
    Type.Unsafe<string>({
      ...IdentityId,
      description: 'With a session cookie: the identity that acts as the operator',
    }),
  ),
})

type Server = { url: string; description: string }
type Operation = ReturnType<typeof operationOf>

function operationOf(
  { tag, operationId, endpoint: { config: about, schema } }: Listed,
  components: Components,
  config: Pick<Config, 'authUrl' | 'businessUrl'>,
) {
  const typeName = operationId.charAt(0).toUpperCase() + operationId.slice(1)
  const answers = Object.entries(schema.response)
  return {
    operationId,
    tags: [tag],
    summary: about.summary,
    security: securityOf(about.security),
    // OpenAPI has no scheme for credentials in a body.
    ...(about.security === 'client in body' && { 'x-client-credentials': 'body' as const }),
    ...(about.host === 'auth' && { servers: [{ url: config.authUrl.origin, description: 'Auth host' }] }),
    ...(about.host === 'business' && { servers: [{ url: config.businessUrl.origin, description: 'Business host' }] }),
    parameters: [
      ...parametersIn('path', schema.params, components),
      ...parametersIn('query', schema.querystring, components),
      ...parametersIn('header', schema.headers, components),
      ...(about.security === 'admin' ? parametersIn('query', ActingOperator, components) : []),
    ],
    ...(about.consumes !== undefined && fileOf(about.consumes)),
    ...(schema.body && bodyOf(schema.body, `${typeName}Input`, about.security === 'client', components)),
    responses: Object.fromEntries(
      answers.map(([status, answer]) => [
        status === '4xx' ? '4XX' : status,
        responseOf(status, answer, typeName, components),
      ]),
    ),
  }
}

/**
 * Adds the bodies of webhooks, which no operation refers to. They are not in `webhooks`, from which openapi-generator
 * 7.25 generates clients that do not compile.
 */
function addWebhookBodies(components: Components): void {
  for (const [type, body] of Object.entries(webhookBodies)) {
    const typeName = type.replaceAll(/(?:^|\.)(\w)/g, (_, first: string) => first.toUpperCase())
    components.writeAs(`${typeName}Event`, body)
  }
}

function securityOf(security: Security): Record<string, string[]>[] {
  switch (security) {
    case 'none':
    case 'client in body':
      return []
    case 'client':
      return [{ client: [] }, {}]
    case 'access token':
      return [{ access_token: [] }]
    case 'fedcm session':
      return [{ federated_session: [] }]
    case 'session':
      return [{ session: [] }]
    case 'admin':
      return [{ admin: [] }, { operator_session: [] }]
  }
}

function parametersIn(place: 'path' | 'query' | 'header', schema: object | undefined, components: Components) {
  if (!schema || !('properties' in schema) || !isRecord(schema.properties)) return []
  const required = 'required' in schema && Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties).map(([name, each]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: components.write(each),
  }))
}

/** Writes a body. An optional one has `null` as a second type; clients of the document omit it instead. */
function bodyOf(schema: object, name: string, form: boolean, components: Components) {
  const isOptional = 'type' in schema && Array.isArray(schema.type)
  const written = components.writeAs(name, isOptional ? { ...schema, type: 'object' } : schema)
  const content = {
    'application/json': { schema: written },
    ...(form && { 'application/x-www-form-urlencoded': { schema: written } }),
  }
  return { requestBody: { required: !isOptional, content } }
}

/** Writes a response: JSON, or the comma-separated types of `contentMediaType`. */
function responseOf(status: string, schema: object, typeName: string, components: Components) {
  if (status === '204') return { description: 'Done' }
  const isApiError = status === '4xx'
  const written = components.writeAs(`${typeName}${isApiError ? 'Error' : 'Result'}`, schema)
  const mediaTypes = 'contentMediaType' in schema ? String(schema.contentMediaType).split(', ') : ['application/json']
  const content = Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema: written }]))
  return { description: isApiError ? 'Refused' : 'Success', content }
}

function fileOf(mediaType: string) {
  return { requestBody: { required: true, content: { [mediaType]: { schema: { type: 'string', format: 'binary' } } } } }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Registers the API reference, as a document and as pages that load nothing from other hosts. */
export function apiReferenceRoutes(
  host: Host,
  config: Config,
  pages: Pick<BuiltPages, 'reference' | 'policy' | 'version'>,
): void {
  // Built for the first reader: it would take a tenth of every start.
  let built: ReturnType<typeof openApiDocument> | undefined
  const document = () => (built ??= openApiDocument(config))
  const json = () => JSON.stringify(document())
  // YAML includes JSON.
  const documents = {
    '/openapi.json': 'application/json',
    '/docs/json': 'application/json',
    '/docs/yaml': 'application/yaml',
  }
  for (const [url, mediaType] of Object.entries(documents)) {
    const text = compressText(`${mediaType}; charset=utf-8`, json)
    host.route({
      method: 'GET',
      url,
      config: { security: 'none', cors: 'any origin' },
      handler: (request, reply) => text.send(request, reply),
    })
  }
  referenceRoutes(host, { tags: offeredTags(config), document }, pages)
}
