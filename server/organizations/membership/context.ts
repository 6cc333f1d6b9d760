import { keyCustodyOfMode } from '@countersign/protocol/formats/role'
import type { ClientId, IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { OrganizationChoice, OrganizationContext } from '@countersign/protocol/organizations/organizations'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { listSsoOrganizations, findSsoAuthentication } from '#accounts/sessions/sso-session.ts'
import type { RecoveredSession, Session } from '#accounts/sessions/session.ts'
import { listActiveOrganizationIds, type OrganizationBinding } from '#tokens/families/family.ts'
import { findMembership, keepOrganization, listMembershipsOfIdentity, type Member } from './member.ts'
import { isSsoConfirmed } from './sso-confirmation.ts'

const errors = defineErrors({
  organization_access_denied: [403, 'The identity is not a member of an active organization with this ID.'],
  enterprise_sso_required: [403, 'The organization requires SSO. Send the user to loginUrl.'],
  passkey_required: [403, 'A session opened by enterprise SSO cannot do this. Sign in with a passkey.'],
})

/** Identity that uses an app, and the organization, if any. */
type OrganizationContextInput = { identityId: IdentityId; organizationId: OrganizationId | undefined }

/**
 * Resolves the organization for which an app gets an authorization code. The identity must be a member and must have
 * met the organization's SSO requirement. The membership stays locked until `tx` ends. A session opened by SSO can only
 * use that organization. Throws `organization_access_denied`, `enterprise_sso_required` with `loginUrl`,
 * `passkey_required`.
 */
export async function authorizeOrganizationContext(
  { tx, config }: { tx: Transaction } & Pick<ServerContext, 'config'>,
  session: Session | RecoveredSession,
  { identityId, organizationId }: OrganizationContextInput,
  now: Date,
): Promise<OrganizationBinding | undefined> {
  if (organizationId === undefined && session.authMethod === 'enterprise_sso') throw errors.passkey_required()
  if (organizationId === undefined) return undefined
  await keepOrganization(tx, organizationId)
  const member = await findMembership(tx, organizationId, identityId)
  if (!member) throw errors.organization_access_denied()
  const named = await findSsoAuthentication(tx, session.sessionId, organizationId, now)
  const isNamed = named?.identityId === identityId
  if (isNamed && (await isMet(tx, member, named.connectionId)))
    return { organizationId, ssoConnectionId: named.connectionId }
  if (session.authMethod !== 'passkey' && !isNamed) throw errors.passkey_required()
  const loginUrl = ssoLoginUrl(config.baseUrl, member)
  if (loginUrl !== undefined) throw errors.enterprise_sso_required({ fields: { loginUrl } })
  return { organizationId, ssoConnectionId: null }
}

/**
 * Returns the organization claim of tokens with current values. Returns undefined if the identity is no longer a
 * member, if the organization is not active, or if it now requires SSO and this sign-in did not use it.
 */
async function buildOrganizationContext(
  db: Database,
  identityId: IdentityId,
  { organizationId, ssoConnectionId }: OrganizationBinding,
): Promise<OrganizationContext | undefined> {
  const member = await findMembership(db, organizationId, identityId)
  if (!member || !(await isMet(db, member, ssoConnectionId))) return undefined
  const { name, encryptionMode } = member.organization
  return {
    id: organizationId,
    name,
    memberId: member.memberId,
    role: member.role,
    scopes: member.scopes,
    signingAuthority: member.signingAuthority,
    encryptionMode,
    keyCustody: keyCustodyOfMode[encryptionMode],
    ...(ssoConnectionId === null
      ? { authMethod: 'passkey' as const }
      : { authMethod: 'enterprise_sso' as const, ssoConnectionId }),
    e2eeKeyDelivery: 'svc_identity_grants_only',
  }
}

/** Identity that something was issued for, and the organization, if any. */
type IssuedFor = { identityId: IdentityId; organizationId: OrganizationId | null; ssoConnectionId: string | null }

/**
 * Organization that something was issued for: none, one that the identity can still use, with its claim, or one that it
 * can no longer use.
 */
export type ResolvedOrganizationClaim =
  | { kind: 'none' }
  | { kind: 'claim'; organization: OrganizationContext }
  | { kind: 'revoked' }

/** Resolves the organization that something was issued for, with current values. */
export async function resolveOrganizationClaim(db: Database, issuedFor: IssuedFor): Promise<ResolvedOrganizationClaim> {
  const { identityId, organizationId, ssoConnectionId } = issuedFor
  if (organizationId === null) return { kind: 'none' }
  const organization = await buildOrganizationContext(db, identityId, { organizationId, ssoConnectionId })
  return organization ? { kind: 'claim', organization } : { kind: 'revoked' }
}

/** Organization claim of a token or response, if there is an organization. */
export type OrganizationClaim = { organization?: OrganizationContext }

export function toOrganizationClaim(
  resolved: Exclude<ResolvedOrganizationClaim, { kind: 'revoked' }>,
): OrganizationClaim {
  return resolved.kind === 'none' ? {} : { organization: resolved.organization }
}

/**
 * Lists the organizations that an identity can use with an app in this session, in the order in which it joined them.
 */
export async function listOrganizationChoices(
  { db, config }: Pick<ServerContext, 'db' | 'config'>,
  session: Session,
  { identityId, clientId }: { identityId: IdentityId; clientId: ClientId },
  now: Date,
): Promise<OrganizationChoice[]> {
  const members = await listMembershipsOfIdentity(db, identityId)
  if (members.length === 0) return []
  const held = await listActiveOrganizationIds(db, { identityId, clientId }, now)
  const signedIn = await listSsoOrganizations(db, { sessionId: session.sessionId, identityId }, now)
  const choices: OrganizationChoice[] = []
  for (const member of members) {
    const { organizationId: id, name, logoUrl } = member.organization
    const isSignedIn = signedIn.includes(id)
    if (session.authMethod !== 'passkey' && !isSignedIn) continue
    const named = isSignedIn ? await findSsoAuthentication(db, session.sessionId, id, now) : undefined
    const entersNow = await isMet(db, member, named?.connectionId ?? null)
    const loginUrl = entersNow ? undefined : ssoLoginUrl(config.baseUrl, member)
    const known = held.includes(id)
    choices.push({ id, name, logoUrl, known, ...(loginUrl !== undefined && { loginUrl }) })
  }
  return choices
}

/** Checks if a sign-in meets the SSO requirement of an organization, with the connection used, if any. */
async function isMet(db: Database, { organization }: Member, connectionId: string | null): Promise<boolean> {
  const { organizationId, ssoRequired } = organization
  if (!ssoRequired) return true
  return connectionId !== null && isSsoConfirmed(db, { organizationId, connectionId })
}

/** Returns the SSO URL of an organization that requires SSO. Returns undefined if it does not. */
function ssoLoginUrl(baseUrl: URL, { organization: { ssoRequired, ssoConnectionId } }: Member): string | undefined {
  return ssoRequired ? `${baseUrl.origin}/api/sso/${ssoConnectionId}/start` : undefined
}
