import { limits } from '@countersign/protocol/formats/limits'
import { urn } from '#platform/scim/message.ts'
import { attribute, complex } from '#platform/scim/schema.ts'

const describedUser = 'An identity that this token manages'
const describedGroup = 'A group that this token manages'

/** Supported SCIM features (RFC 7643 §5). `url` is the base URL of SCIM. */
export function serviceProviderConfig(url: string) {
  return {
    schemas: [urn.serviceProvider],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: limits.scimPageMax },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A SCIM token, in the Authorization header',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${url}/ServiceProviderConfig` },
  }
}

/** Supported resource types (RFC 7643 §6). */
export function resourceTypes(url: string) {
  const type = (name: string, description: string, schema: string) => ({
    schemas: [urn.resourceType],
    ...{ id: name, name, description, endpoint: `/${name}s`, schema, schemaExtensions: [] },
    meta: { resourceType: 'ResourceType', location: `${url}/ResourceTypes/${name}` },
  })
  return [type('User', describedUser, urn.user), type('Group', describedGroup, urn.group)]
}

const common = [
  attribute('id', 'The ID of the resource', {
    ...{ caseExact: true, mutability: 'readOnly', returned: 'always', uniqueness: 'server' },
  }),
]

/** Supported attributes of the resource types (RFC 7643 §7). Other attributes are ignored. */
export function schemas(url: string) {
  const schema = (id: string, name: string, description: string, attributes: object[]) => ({
    schemas: [urn.schema],
    ...{ id, name, description, attributes },
    meta: { resourceType: 'Schema', location: `${url}/Schemas/${id}` },
  })
  return [
    schema(urn.user, 'User', describedUser, [...common, ...attributesOfUser]),
    schema(urn.group, 'Group', describedGroup, [...common, ...attributesOfGroup]),
  ]
}

const attributesOfUser = [
  attribute('userName', 'The user name in the directory, unique among the users of this token', {
    ...{ required: true, uniqueness: 'server' },
  }),
  attribute('externalId', 'The identifier that the directory assigns', { caseExact: true }),
  attribute('displayName', 'The display name'),
  complex('name', 'The components of the name', {}, [
    attribute('formatted', 'The full name'),
    attribute('familyName', 'The family name'),
    attribute('givenName', 'The given name'),
  ]),
  attribute('active', 'False while the identity is suspended; true unless sent', { type: 'boolean', required: true }),
  complex('emails', 'E-mail addresses; the identity has the primary one', { multiValued: true }, [
    attribute('value', 'An e-mail address', { required: true }),
    attribute('type', 'The type of the address', { canonicalValues: ['work', 'home', 'other'] }),
    attribute('primary', 'True for the preferred value', { type: 'boolean' }),
  ]),
]

const attributesOfGroup = [
  attribute('displayName', 'The name of the group. Its first value gives the key of the group in claims', {
    required: true,
  }),
  attribute('externalId', 'The identifier that the directory assigns', { caseExact: true }),
  complex('members', 'Users of this token', { multiValued: true }, [
    attribute('value', 'The ID of a user', { caseExact: true, mutability: 'immutable' }),
    attribute('$ref', 'The URI of the user', {
      ...{ type: 'reference', referenceTypes: ['User'], caseExact: true, mutability: 'immutable' },
    }),
    attribute('type', 'The type of the member', { canonicalValues: ['User'], mutability: 'immutable' }),
  ]),
]
