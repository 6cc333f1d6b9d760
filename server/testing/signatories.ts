import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { businessOf, councilOf } from './council.ts'
import { businessRequest, join, createOrganization } from './organization.ts'
import { createSigner } from './signer.ts'
import type { TestWorld } from './world.ts'

export type Signatory = Awaited<ReturnType<typeof createSigner>>
type Members<Roles extends OrganizationRole[]> = { [Index in keyof Roles]: Signatory & { memberId: string } }

/**
 * Creates an organization that requires this number of approvals, and members with these roles, who have signing keys.
 * Those who sign or approve by their role are its council.
 */
export async function createSignatories<Roles extends OrganizationRole[]>(
  world: TestWorld,
  approvalsNeeded: number,
  ...roles: Roles
) {
  const owner = await createSigner(world)
  const { id } = await createOrganization(world, owner)
  const members: (Signatory & { memberId: string })[] = []
  for (const role of roles) {
    const person = await createSigner(world)
    members.push({ ...person, memberId: (await join(world, { id, owner, role }, person)).memberId })
  }
  const set = (change: object) => businessRequest(world, owner, `PATCH /organizations/${id}`, change)
  const council = councilOf(businessOf(world), id)
  const others = members.filter((_, index) => ['admin', 'signer'].includes(roles[index] ?? ''))
  if (approvalsNeeded > 0) await council.decide({ by: owner, others }, 'PATCH', { approvalsNeeded })
  const grant = (memberId: string, change: object) =>
    businessRequest(world, owner, `PATCH /organizations/${id}/members/${memberId}`, change)
  return { id, owner, set, grant, council, members: members as Members<Roles> }
}
