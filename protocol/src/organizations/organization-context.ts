import { Type, type Static } from 'typebox'
import { Organization } from './organizations.ts'
import { Uuid } from '../values.ts'

const { id, name, logoUrl, role, scopes, signingAuthority, encryptionMode, keyCustody } = Organization.properties

/** For which organization somebody uses an app, and as what: the claim `organization`. */
export const OrganizationContext = Type.Object({
  id,
  name,
  memberId: Uuid,
  role,
  scopes,
  signingAuthority,
  encryptionMode,
  keyCustody,
  authMethod: Type.Union([Type.Literal('passkey'), Type.Literal('enterprise_sso')]),
  /** With `enterprise_sso`: which connection of the organization said who this is. */
  ssoConnectionId: Type.Optional(Uuid),
  /** Of an organization in mode `e2ee`. */
  e2eeKeyDelivery: Type.Optional(Type.Literal('svc_identity_grants_only')),
})
export type OrganizationContext = Static<typeof OrganizationContext>

/** An organization that an identity can choose when it goes to an app. */
export const OrganizationChoice = Type.Object({
  id,
  name,
  logoUrl,
  known: Type.Boolean({ description: 'Whether the app acts for it already, as this identity' }),
  loginUrl: Type.Optional(
    Type.String({ description: 'Where the person signs in with the organization first, as it requires' }),
  ),
})
export type OrganizationChoice = Static<typeof OrganizationChoice>
