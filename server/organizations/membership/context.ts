import { keyCustodyOfMode } from '@countersign/protocol/formats/role'
import type { OrganizationChoice, OrganizationContext } from '@countersign/protocol/organizations/organization-context'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { listEnterpriseSso, readEnterpriseSso } from '#accounts/sessions/sso-session.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { listOrganizationsHeld, type ForOrganization } from '#tokens/families/family.ts'
import { findMembership, toMember, type Member } from './access.ts'
import { isSsoConfirmed } from './sso-confirmation.ts'
import * as membersStore from '#organizations/members/store.ts'

const refuse = refusals({
  organization_access_denied: [403, 'This identity is a member of no active organization with this id.'],
  enterprise_sso_required: [403, 'This organization asks its members to sign in with its own provider first.'],
  passkey_required: [403, 'This takes your passkey: an organization has signed you in here, for itself alone.'],
})

/** What is asked of: as whom an app is used, and for which organization if any. */
type Wanted = { identityId: string; organizationId: string | undefined }

/**
 * Settles for which organization an app gets a code: that the identity is a member, and has itself signed in as the
 * organization requires. Both stay so until `tx` ends. A session that an organization opened is for that one alone.
 * Refuses `organization_access_denied`, `enterprise_sso_required` with `loginUrl`, `passkey_required`.
 */
export async function enterOrganization(
  { tx, config }: { tx: Transaction } & Pick<Kernel, 'config'>,
  session: Session,
  { identityId, organizationId }: Wanted,
  now: Date,
): Promise<ForOrganization | undefined> {
  if (organizationId === undefined && session.authMethod !== 'passkey') throw refuse.passkey_required()
  if (organizationId === undefined) return undefined
  await membersStore.shareOrganization(tx, organizationId)
  const member = await findMembership(tx, organizationId, identityId)
  if (!member) throw refuse.organization_access_denied()
  const named = await readEnterpriseSso(tx, session.sessionId, organizationId, now)
  const isNamed = named?.identityId === identityId
  if (isNamed && (await isMet(tx, member, named.connectionId)))
    return { organizationId, ssoConnectionId: named.connectionId }
  if (session.authMethod !== 'passkey' && !isNamed) throw refuse.passkey_required()
  const loginUrl = loginUrlOf(config.baseUrl, member)
  if (loginUrl !== undefined) throw refuse.enterprise_sso_required({ fields: { loginUrl } })
  return { organizationId, ssoConnectionId: null }
}

/**
 * What an app is told of the organization that its tokens are for, as it is now. Undefined where the identity is no
 * member any more, or the organization is not active, or requires its own sign-in by now and this went without.
 */
async function readContext(
  db: Database,
  identityId: string,
  { organizationId, ssoConnectionId }: ForOrganization,
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
    ...(encryptionMode === 'e2ee' && { e2eeKeyDelivery: 'svc_identity_grants_only' as const }),
  }
}

/** Of which identity something was given, and for which organization, if for one. */
type Given = { identityId: string; organizationId: string | null; ssoConnectionId: string | null }

/** What is told of the organization, where there is one. */
export type Told = { organization?: OrganizationContext }

/**
 * What is to be told of the organization that something was given for, as it is now: nothing where it was for none, and
 * undefined where it is worth nothing any more.
 */
export async function tellOrganization(db: Database, given: Given): Promise<Told | undefined> {
  const { identityId, organizationId, ssoConnectionId } = given
  if (organizationId === null) return {}
  const organization = await readContext(db, identityId, { organizationId, ssoConnectionId })
  return organization && { organization }
}

/** For which organizations an identity can go to an app in this session, the one that it joined first before others. */
export async function listChoices(
  { db, config }: Pick<Kernel, 'db' | 'config'>,
  session: Session,
  { identityId, clientId }: { identityId: string; clientId: string },
  now: Date,
): Promise<OrganizationChoice[]> {
  const members = (await membersStore.listMembershipsOfIdentity(db, identityId)).map(toMember)
  if (members.length === 0) return []
  const held = await listOrganizationsHeld(db, { identityId, clientId }, now)
  const signedIn = await listEnterpriseSso(db, { sessionId: session.sessionId, identityId }, now)
  const choices: OrganizationChoice[] = []
  for (const member of members) {
    const { organizationId: id, name, logoUrl } = member.organization
    const isSignedIn = signedIn.includes(id)
    if (session.authMethod !== 'passkey' && !isSignedIn) continue
    const named = isSignedIn ? await readEnterpriseSso(db, session.sessionId, id, now) : undefined
    const entersNow = await isMet(db, member, named?.connectionId ?? null)
    const loginUrl = entersNow ? undefined : loginUrlOf(config.baseUrl, member)
    const known = held.includes(id)
    choices.push({ id, name, logoUrl, known, ...(loginUrl !== undefined && { loginUrl }) })
  }
  return choices
}

/** Whether the SSO that an organization may require is met by a sign-in with this connection, or with none. */
async function isMet(db: Database, { organization }: Member, connectionId: string | null): Promise<boolean> {
  const { organizationId, ssoRequired } = organization
  if (!ssoRequired) return true
  return connectionId !== null && isSsoConfirmed(db, { organizationId, connectionId })
}

/** Where a member signs in with an organization that requires that; undefined where it does not. */
function loginUrlOf(baseUrl: URL, { organization: { ssoRequired, ssoConnectionId } }: Member): string | undefined {
  return ssoRequired ? `${baseUrl.origin}/api/sso/${ssoConnectionId}/start` : undefined
}
