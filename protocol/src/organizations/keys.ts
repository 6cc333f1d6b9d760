import { Type, type Static } from 'typebox'
import { endpoint, Nothing } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { ActingAs, ByOrganizationId, Organization } from './organizations.ts'
import { SignatureAlone, signed } from './signed-action.ts'
import { Base64, Instant, OrNull, Uuid, WebUrl } from '../values.ts'

const business = { security: 'session', cors: 'our pages', host: 'business' } as const

const Fingerprint = Type.String({
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'Derived from the key; it tells keys apart, and opens nothing',
})
const Grant = Type.String({
  minLength: 1,
  maxLength: limits.keyGrantCharactersMax,
  description: 'The key, wrapped to the encryption key of a member: a compact JWE, ECDH-ES+A256KW and A256GCM',
})

/** A key of an organization, without what would open it. */
export const OrganizationKey = Type.Object({
  keyId: Uuid,
  version: Type.Integer({ minimum: 1 }),
  keyCustody: Organization.properties.keyCustody,
  fingerprint: Fingerprint,
  createdAt: Instant,
  rotationDueSince: OrNull(Instant),
  endedAt: OrNull(Instant),
  held: Type.Boolean({ description: 'Whether I can get it' }),
  membersWithout: Type.Integer({ minimum: 0, description: 'How many members cannot' }),
})
export type OrganizationKey = Static<typeof OrganizationKey>

export const listOrganizationKeys = endpoint(
  'GET /api/organizations/:organizationId/keys',
  { ...business, summary: 'List the keys of an organization: the one in force, then those before it' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ keys: Type.Array(OrganizationKey) }) },
)

export const createOrganizationKey = endpoint(
  'POST /api/organizations/:organizationId/keys',
  { ...business, summary: 'Give an organization its first key, or one in place of the key in force' },
  {
    params: ByOrganizationId,
    querystring: ActingAs,
    body: Type.Object({
      /** The key in force, where there is one. */
      replaces: Type.Optional(Uuid),
      /** In mode `e2ee`: of the key that the caller has made, and that key as it is wrapped to them. */
      fingerprint: Type.Optional(Fingerprint),
      ciphertext: Type.Optional(Grant),
      ...signed,
    }),
  },
  { 201: Type.Object({ key: OrganizationKey }) },
)
export type NewOrganizationKey = Omit<Static<typeof createOrganizationKey.schema.body>, 'signedAction'>

const ByKeyId = Type.Object({ organizationId: Uuid, keyId: Uuid })

export const deleteOrganizationKey = endpoint(
  'DELETE /api/organizations/:organizationId/keys/:keyId',
  { ...business, summary: 'Delete a key that is no longer in force: nobody is given it any more' },
  { params: ByKeyId, querystring: ActingAs, body: SignatureAlone },
  { 204: Nothing },
)

/** Whether a member has been granted a key; the grant itself for whom it is alone. */
export const KeyGrant = Type.Object({
  memberId: Uuid,
  identityId: Uuid,
  handle: Type.String(),
  displayName: Type.String(),
  /** Their encryption key, as SPKI, if they have one. */
  publicKey: OrNull(Base64),
  granted: Type.Boolean(),
  ciphertext: Type.Optional(Grant),
})
export type KeyGrant = Static<typeof KeyGrant>

export const readKeyGrants = endpoint(
  'GET /api/organizations/:organizationId/keys/:keyId/wraps',
  { ...business, summary: 'Get a key as it is wrapped to me; with manage_keys, see also who else has it' },
  { params: ByKeyId, querystring: ActingAs },
  { 200: Type.Object({ wraps: Type.Array(KeyGrant) }) },
)

export const grantKey = endpoint(
  'PUT /api/organizations/:organizationId/keys/:keyId/wraps',
  { ...business, summary: 'Wrap a key to members who have no wrap of it; mine takes the place of the one that I have' },
  {
    params: ByKeyId,
    querystring: ActingAs,
    body: Type.Object({
      wraps: Type.Array(Type.Object({ memberId: Uuid, ciphertext: Grant }), {
        minItems: 1,
        maxItems: limits.keyGrantsAtOnceMax,
      }),
      ...signed,
    }),
  },
  { 200: Type.Object({ wraps: Type.Array(KeyGrant) }) },
)
export type NewKeyGrants = Static<typeof grantKey.schema.body>['wraps']

export const giveUpKey = endpoint(
  'DELETE /api/organizations/:organizationId/keys/:keyId/wraps',
  { ...business, summary: 'Give up my wrap of a key, so that I can be given another' },
  { params: ByKeyId, querystring: ActingAs },
  { 204: Nothing },
)

/** The KMS with which an organization keeps its keys itself, in mode `enterprise_managed`. */
export const Kms = Type.Object({
  url: WebUrl,
  /** When it last was seen to open what it had wrapped. */
  checkedAt: Instant,
})
export type Kms = Static<typeof Kms>

export const readKms = endpoint(
  'GET /api/organizations/:organizationId/kms',
  { ...business, summary: 'Read which KMS an organization has' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ kms: Kms }) },
)

export const setKms = endpoint(
  'PUT /api/organizations/:organizationId/kms',
  {
    ...business,
    summary: 'Set the KMS of an organization, which must open what it wraps, and the keys that there are',
  },
  { params: ByOrganizationId, querystring: ActingAs, body: Type.Object({ url: WebUrl, ...signed }) },
  { 200: Type.Object({ kms: Kms }) },
)

export const removeKms = endpoint(
  'DELETE /api/organizations/:organizationId/kms',
  { ...business, summary: 'Take the KMS away from an organization that has no keys with it' },
  { params: ByOrganizationId, querystring: ActingAs, body: SignatureAlone },
  { 204: Nothing },
)
