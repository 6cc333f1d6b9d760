import { limits } from '@countersign/protocol/formats/limits'
import type { Provisioning } from './directory.ts'
import { roles } from './user.ts'
import { scimUrlOf, urn } from './scim.ts'

/** What a directory may ask of us (RFC 7643 §5). */
export function serviceProviderConfig(baseUrl: URL, { connectionId }: Provisioning) {
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

/** The kinds of resources that there are (RFC 7643 §6): users alone. */
export function userResourceType(baseUrl: URL, { connectionId }: Provisioning) {
  return {
    schemas: [urn.resourceType],
    id: 'User',
    name: 'User',
    description: 'Somebody whom the directory lets come by this connection',
    endpoint: '/Users',
    schema: urn.user,
    schemaExtensions: [],
    meta: metaOf(baseUrl, connectionId, 'ResourceType', 'ResourceTypes/User'),
  }
}

const isPrimary = attribute('primary', 'Whether it is the one that counts', { type: 'boolean' })

/** What is kept of a user (RFC 7643 §7). Attributes that are not here are passed over. */
export function userSchema(baseUrl: URL, { connectionId, subjectBy }: Provisioning) {
  const [byExternalId, byEmail] = [subjectBy === 'externalId', subjectBy === 'email']
  return {
    schemas: [urn.schema],
    id: urn.user,
    name: 'User',
    description: 'Somebody whom the directory lets come by this connection',
    attributes: [
      attribute('userName', 'What the directory calls them', { required: true, uniqueness: 'server' }),
      attribute('externalId', 'The id that the directory gives them', { caseExact: true, required: byExternalId }),
      attribute('displayName', 'The name to show'),
      complex('name', 'The parts of the name', {}, [
        attribute('givenName', 'The given name'),
        attribute('familyName', 'The family name'),
      ]),
      attribute('active', 'Whether they may come; false ends their membership', { type: 'boolean' }),
      complex(
        'emails',
        'The primary address, or the one of work; one is kept',
        { multiValued: true, required: byEmail },
        [
          attribute('value', 'An e-mail address', { required: true }),
          attribute('type', 'What it is for', { canonicalValues: ['work'] }),
          isPrimary,
        ],
      ),
      complex('roles', 'As what they join; one is kept', { multiValued: true }, [
        attribute('value', 'A role', { required: true, canonicalValues: roles }),
        isPrimary,
      ]),
    ],
    meta: metaOf(baseUrl, connectionId, 'Schema', `Schemas/${urn.user}`),
  }
}

/** Several resources, of which these begin at a place in the list that is counted from one (RFC 7644 §3.4.2). */
export function listResponse(resources: object[], totalResults = resources.length, startIndex = 1) {
  return { schemas: [urn.list], totalResults, startIndex, itemsPerPage: resources.length, Resources: resources }
}

type More = {
  type?: string
  multiValued?: boolean
  required?: boolean
  caseExact?: boolean
  uniqueness?: string
  canonicalValues?: readonly string[]
}

function attribute(name: string, description: string, more: More = {}) {
  const { type = 'string', multiValued = false, required = false, caseExact = false, uniqueness = 'none' } = more
  const { canonicalValues } = more
  const isText = type === 'string'
  return {
    name,
    type,
    description,
    multiValued,
    required,
    ...(canonicalValues && { canonicalValues }),
    ...(isText && { caseExact }),
    mutability: 'readWrite',
    returned: 'default',
    ...(isText && { uniqueness }),
  }
}

function complex(name: string, description: string, more: More, subAttributes: object[]) {
  return { ...attribute(name, description, { ...more, type: 'complex' }), subAttributes }
}

function metaOf(baseUrl: URL, connectionId: string, resourceType: string, path = resourceType) {
  return { resourceType, location: `${scimUrlOf(baseUrl, connectionId)}/${path}` }
}
