/** Renders components of the organization pages with scripted responses of the service, for a member without a key. */
import type { Identity } from '@countersign/protocol/accounts/identities'
import { asId, type IdentityId, type OrganizationId } from '@countersign/protocol/ids'
import { scopesOfRole, type OrganizationRole } from '@countersign/protocol/formats/role'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { Invitation } from '@countersign/protocol/organizations/invitations'
import { type ComponentType, h } from 'preact'
import { renderScripted, type Script, type ScriptedPage } from './scripted-page.ts'

export { Refused, type PageRequest } from './scripted-page.ts'
export type OrganizationPageTest = ScriptedPage

/** Renders a component with the error messages of organizations. */
export async function renderForOrganization(View: ComponentType, script: Script): Promise<OrganizationPageTest> {
  const { Refusals } = await import('../pages/business/Refusals.tsx')
  return renderScripted(() => h(Refusals, { children: h(View, {}) }), script)
}

const organizationId = asId<OrganizationId>('01900000-0000-7000-8000-000000000001')
const instant = '2030-01-01T00:00:00.000Z'

/** Returns an identity of the user, by its username. */
export function pageIdentity(handle: string): Identity {
  const identityId = asId<IdentityId>(`identity-${handle}`)
  return {
    identityId,
    handle,
    displayName: handle,
    avatarUrl: null,
    email: null,
    emailVerified: false,
    createdAt: instant,
  }
}

/** Returns a member with the permissions of a role. */
export function pageMember(handle: string, role: OrganizationRole, other: Partial<OrganizationMember> = {}) {
  const scopes = [...scopesOfRole[role]]
  const { identityId, displayName, avatarUrl, email } = pageIdentity(handle)
  const person = { identityId, handle, displayName, avatarUrl, email }
  const may = { role, scopes, signingAuthority: scopesOfRole[role].some((scope) => scope === 'sign') }
  return { memberId: `member-${handle}`, ...person, ...may, joinedAt: instant, ...other } satisfies OrganizationMember
}

/** Returns the organization as one of its members sees it. */
export function pageOrganization(
  { memberId, identityId, role, scopes, signingAuthority }: OrganizationMember,
  other: Partial<OwnOrganization> = {},
): OwnOrganization {
  return {
    ...{ id: organizationId, name: 'Acme', slug: 'acme', logoUrl: null },
    ...{ memberId, identityId, role, scopes, signingAuthority },
    ...{ ssoRequired: false, requireSignedActions: false, approvalsNeeded: 0 },
    ...{ encryptionMode: 'standard', keyCustody: 'svc_standard', createdAt: instant, updatedAt: instant },
    ...other,
  }
}

/** Returns an open invitation to a username. */
export function pageInvitation(handle: string, other: Partial<Invitation> = {}): Invitation {
  const invitationId = `invitation-${handle}`
  const invitee = { invitationId, role: 'member', handle, email: null } as const
  return { ...invitee, createdAt: instant, expiresAt: instant, invitedBy: null, mailedAt: null, ...other }
}
