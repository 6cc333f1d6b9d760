import { domainOfEmail } from '@countersign/protocol/formats/domain'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { isVerifiedFor } from '#organizations/domains/domain.ts'
import { addProvisionedMember } from '#organizations/members/member.ts'
import type { Connection } from '#sso/connections/connection.ts'
import type { ProvisioningStatus } from '#sso/provisioning/provisioned-user.ts'

const errors = defineErrors({
  sso_not_a_member: [403, 'The organization must invite this identity or verify the domain of its e-mail address.'],
})

/** User as a provider has named them. */
export type Proved = { subject: string; email: string | null; emailVerified: boolean; displayName: string | null }

type Joining = {
  connection: Connection
  person: Proved
  word: ProvisioningStatus
  userId: UserId
  identityId: IdentityId
}

/** Adds an identity as a member. Throws `sso_not_a_member`, and the errors of `addProvisionedMember`. */
export async function join(tx: Transaction, { connection, person, word, ...joining }: Joining, now: Date) {
  const role = await findJoiningRole(tx, connection, person, word)
  if (!role) throw errors.sso_not_a_member()
  const { organizationId } = connection
  return addProvisionedMember(tx, { ...joining, organizationId, role, namedByDirectory: word.of === 'a person' }, now)
}

/**
 * Returns the role with which a user can join, or undefined if they cannot. With a directory, only provisioned users
 * can join.
 */
export async function findJoiningRole(db: Database, connection: Connection, person: Proved, word: ProvisioningStatus) {
  switch (word.of) {
    case 'no directory':
      return (await isOfDomain(db, connection, person)) ? 'member' : undefined
    case 'a person':
      return word.active ? (word.role ?? 'member') : undefined
    case 'nobody':
      return undefined
  }
}

/**
 * Checks that the provider has verified the e-mail address, and that its domain is verified for the organization and
 * assigned to this connection.
 */
async function isOfDomain(db: Database, { organizationId, domains }: Connection, { email, emailVerified }: Proved) {
  const domain = emailVerified && email !== null ? domainOfEmail(email) : undefined
  return domain !== undefined && domains.includes(domain) && (await isVerifiedFor(db, organizationId, domain))
}
