import assert from 'node:assert/strict'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { businessRequest, join, createOrganization } from './organization.ts'
import { createSigner } from './signer.ts'
import type { TestWorld } from './world.ts'

export type Signatory = Awaited<ReturnType<typeof createSigner>>
type Members<Roles extends OrganizationRole[]> = { [Index in keyof Roles]: Signatory & { memberId: string } }

/**
 * Creates an organization that requires this number of approvals, and members with these roles, who have signing keys.
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
  assert.equal((await set({ approvalsNeeded })).statusCode, 200)
  const grant = (memberId: string, change: object) =>
    businessRequest(world, owner, `PATCH /organizations/${id}/members/${memberId}`, change)
  return { id, owner, set, grant, members: members as Members<Roles> }
}
