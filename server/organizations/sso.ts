import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { scopesOfRole } from '@countersign/protocol/formats/organization-role'
import { holdIdentity } from '#identity/identity.ts'
import { record } from '#kernel/audit.ts'
import type { Database, Transaction } from '#kernel/database.ts'
import { refusals } from '#kernel/refusal.ts'
import { countMemberships, findOrganization, insertMember, lockOrganization, updateSsoConnection } from './store.ts'

const refuse = refusals({
  identity_not_found: [404, 'None of your identities has this id.'],
  sso_in_use: [409, 'Everybody must sign in with this connection. Turn ssoRequired off first.'],
  too_many_organizations: [409, 'This identity is in as many organizations as it may be.'],
})

/** An organization that is active, for its own sign-in; undefined where there is none. */
export async function findActiveOrganization(db: Database, organizationId: string) {
  const organization = await findOrganization(db, organizationId)
  return organization?.status === 'active' ? organization : undefined
}

/** The same, which nobody changes until the transaction ends, nor its members. */
export async function holdOrganization(tx: Transaction, organizationId: string) {
  const organization = await lockOrganization(tx, organizationId)
  return organization?.status === 'active' ? organization : undefined
}

/** Sets with which connection people sign in where they must. Refuses `sso_in_use` where they must, and it is none. */
export async function chooseSsoConnection(tx: Transaction, organizationId: string, connectionId: string | null) {
  if (!(await updateSsoConnection(tx, organizationId, connectionId))) throw refuse.sso_in_use()
}

type Joining = { userId: string; organizationId: string; identityId: string }

/**
 * Makes an identity a member whom the organization's own sign-in has named; the caller holds the organization. Refuses
 * `identity_not_found`, `too_many_organizations`.
 */
export async function joinAsMember(tx: Transaction, { userId, organizationId, identityId }: Joining, now: Date) {
  if (!(await holdIdentity(tx, identityId))) throw refuse.identity_not_found()
  if ((await countMemberships(tx, identityId)) >= limits.organizationsPerIdentityMax)
    throw refuse.too_many_organizations()
  const memberId = randomUUIDv7()
  const rights = { role: 'member' as const, scopes: [...scopesOfRole.member], signingAuthority: false }
  await insertMember(tx, { organizationId, memberId, identityId, ...rights }, now)
  const details = { memberId, role: rights.role, by: 'sso' }
  await record(
    tx,
    { action: 'organization.member_joined', actor: 'person', userId, identityId, organizationId, details },
    now,
  )
  return { memberId }
}
