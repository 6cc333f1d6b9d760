import { limits } from '@countersign/protocol/formats/limits'
import type { ScimDirectory } from './directory.ts'
import { roles } from './user.ts'
import { scimUrlOf } from '#sso/connections/settings.ts'
import { urn } from '#platform/scim/message.ts'
import { attribute, complex } from '#platform/scim/schema.ts'

/** Supported SCIM features (RFC 7643 §5). */
export function serviceProviderConfig(baseUrl: URL, { connectionId }: ScimDirectory) {
  return {
    schemas: [urn.serviceProvider],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: limits.provisionedPeoplePageMax },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token of this connection, in the Authorization header',
        primary: true,
      },
    ],
    meta: metaOf(baseUrl, connectionId, 'ServiceProviderConfig'),
  }
}

/** Supported resource types (RFC 7643 §6): User only. */
export function userResourceType(baseUrl: URL, { connectionId }: ScimDirectory) {
  return {
    schemas: [urn.resourceType],
    id: 'User',
    name: 'User',
    description: 'A user that the directory allows to join by this connection',
    endpoint: '/Users',
    schema: urn.user,
    schemaExtensions: [],
    meta: metaOf(baseUrl, connectionId, 'ResourceType', 'ResourceTypes/User'),
  }
}

const isPrimary = attribute('primary', 'True for the preferred value', { type: 'boolean' })

/** Supported attributes of a user (RFC 7643 §7). Other attributes are ignored. */
export function userSchema(baseUrl: URL, { connectionId, subjectBy }: ScimDirectory) {
  const [byExternalId, byEmail] = [subjectBy === 'externalId', subjectBy === 'email']
  return {
    schemas: [urn.schema],
    id: urn.user,
    name: 'User',
    description: 'A user that the directory allows to join by this connection',
    attributes: [
      attribute('userName', 'The user name in the directory', { required: true, uniqueness: 'server' }),
      attribute('externalId', 'The identifier that the directory assigns', { caseExact: true, required: byExternalId }),
      attribute('displayName', 'The display name'),
      complex('name', 'The components of the name', {}, [
        attribute('givenName', 'The given name'),
        attribute('familyName', 'The family name'),
      ]),
      attribute('active', 'If the user can join; false ends the membership', { type: 'boolean' }),
      complex(
        'emails',
        'The primary e-mail address, or the work address; one is stored',
        { multiValued: true, required: byEmail },
        [
          attribute('value', 'An e-mail address', { required: true }),
          attribute('type', 'The type of the address', { canonicalValues: ['work'] }),
          isPrimary,
        ],
      ),
      complex('roles', 'The role with which the user joins; one is stored', { multiValued: true }, [
        attribute('value', 'A role', { required: true, canonicalValues: roles }),
        isPrimary,
      ]),
    ],
    meta: metaOf(baseUrl, connectionId, 'Schema', `Schemas/${urn.user}`),
  }
}

function metaOf(baseUrl: URL, connectionId: string, resourceType: string, path = resourceType) {
  return { resourceType, location: `${scimUrlOf(baseUrl, connectionId)}/${path}` }
}
