import { type Static, Type } from 'typebox'
import { NoContent, endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { ActingAs, ByOrganizationId, Organization, SignatureOnly, signed } from './organizations.ts'
import { IdentityId, OrganizationId } from '../ids.ts'
import { Base64, Timestamp, Uuid, WebUrl, nullable } from '../values.ts'

const business = { security: 'session', cors: 'first party', host: 'business' } as const

const Fingerprint = Type.String({
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'Derived from the key; distinguishes keys and decrypts nothing',
})
const wrap = {
  minLength: 1,
  maxLength: limits.keyGrantCharactersMax,
  description: 'The key, wrapped to the encryption key of a member: a compact JWE, ECDH-ES+A256KW and A256GCM',
}
const Grant = Type.String(wrap)
/** For the recipient alone: the details of an act contain a commitment instead. */
const NewGrant = Type.String({ ...wrap, writeOnly: true })

/** Organization key, without anything that would unwrap it. */
export const OrganizationKey = Type.Object({
  keyId: Uuid,
  version: Type.Integer({ minimum: 1 }),
  keyCustody: Organization.properties.keyCustody,
  fingerprint: Fingerprint,
  createdAt: Timestamp,
  rotationDueSince: nullable(Timestamp),
  endedAt: nullable(Timestamp),
  held: Type.Boolean({ description: 'Whether I have access to it' }),
  membersWithout: Type.Integer({ minimum: 0, description: 'Number of members without access' }),
})
export type OrganizationKey = Static<typeof OrganizationKey>

export const listOrganizationKeys = endpoint(
  'GET /api/organizations/:organizationId/keys',
  { ...business, summary: 'List the keys of an organization: the current one, then former ones' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ keys: Type.Array(OrganizationKey) }) },
)

export const createOrganizationKey = endpoint(
  'POST /api/organizations/:organizationId/keys',
  { ...business, summary: 'Create the first key of an organization, or replace the current one' },
  {
    params: ByOrganizationId,
    querystring: ActingAs,
    body: Type.Object({
      /** ID of the current key, if there is one. */
      replaces: Type.Optional(Uuid),
      /** In mode `e2ee`: fingerprint of the key that the caller has created, and its wrap for the caller. */
      fingerprint: Type.Optional(Fingerprint),
      ciphertext: Type.Optional(NewGrant),
      ...signed,
    }),
  },
  { 201: Type.Object({ key: OrganizationKey }) },
)
export type NewOrganizationKey = Omit<Static<typeof createOrganizationKey.schema.body>, 'signedAction'>

const ByKeyId = Type.Object({ organizationId: OrganizationId, keyId: Uuid })

export const deleteOrganizationKey = endpoint(
  'DELETE /api/organizations/:organizationId/keys/:keyId',
  { ...business, summary: 'Delete a former key: no member can retrieve it any more' },
  { params: ByKeyId, querystring: ActingAs, body: SignatureOnly },
  { 204: NoContent },
)

/** Key wrap state of a member; only the member gets the wrap itself. */
export const OrganizationKeyWrap = Type.Object({
  memberId: Uuid,
  identityId: IdentityId,
  handle: Type.String(),
  displayName: Type.String(),
  /** Encryption key of the member as SPKI, if there is one. */
  publicKey: nullable(Base64),
  granted: Type.Boolean(),
  ciphertext: Type.Optional(Grant),
})
export type OrganizationKeyWrap = Static<typeof OrganizationKeyWrap>

export const listOrganizationKeyWraps = endpoint(
  'GET /api/organizations/:organizationId/keys/:keyId/wraps',
  { ...business, summary: 'Get my wrap of a key; with manage_keys, also the list of members with access' },
  { params: ByKeyId, querystring: ActingAs },
  { 200: Type.Object({ wraps: Type.Array(OrganizationKeyWrap) }) },
)

export const shareOrganizationKey = endpoint(
  'PUT /api/organizations/:organizationId/keys/:keyId/wraps',
  { ...business, summary: 'Wrap a key for members without a wrap; my own wrap is replaced' },
  {
    params: ByKeyId,
    querystring: ActingAs,
    body: Type.Object({
      wraps: Type.Array(Type.Object({ memberId: Uuid, ciphertext: NewGrant }), {
        minItems: 1,
        maxItems: limits.keyGrantsAtOnceMax,
      }),
      ...signed,
    }),
  },
  { 200: Type.Object({ wraps: Type.Array(OrganizationKeyWrap) }) },
)
export type NewKeyGrants = Static<typeof shareOrganizationKey.schema.body>['wraps']

export const giveUpKey = endpoint(
  'DELETE /api/organizations/:organizationId/keys/:keyId/wraps',
  { ...business, summary: 'Delete my wrap of a key, so that I can get another one' },
  { params: ByKeyId, querystring: ActingAs },
  { 204: NoContent },
)

/** KMS with which an organization stores its keys itself, in mode `enterprise_managed`. */
export const Kms = Type.Object({
  url: WebUrl,
  /** Time of the last successful check that it unwraps what it wrapped. */
  checkedAt: Timestamp,
})
export type Kms = Static<typeof Kms>

export const getKms = endpoint(
  'GET /api/organizations/:organizationId/kms',
  { ...business, summary: 'Get the KMS of an organization' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ kms: Kms }) },
)

export const setKms = endpoint(
  'PUT /api/organizations/:organizationId/kms',
  {
    ...business,
    summary: 'Set the KMS of an organization, which must unwrap its own wraps and the existing keys',
  },
  { params: ByOrganizationId, querystring: ActingAs, body: Type.Object({ url: WebUrl, ...signed }) },
  { 200: Type.Object({ kms: Kms }) },
)

export const removeKms = endpoint(
  'DELETE /api/organizations/:organizationId/kms',
  { ...business, summary: 'Remove the KMS of an organization that has no keys in it' },
  { params: ByOrganizationId, querystring: ActingAs, body: SignatureOnly },
  { 204: NoContent },
)
