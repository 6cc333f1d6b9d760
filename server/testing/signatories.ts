import assert from 'node:assert/strict'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { askBusiness, join, makeOrganization } from './organization.ts'
import { createSigner } from './signer.ts'
import type { World } from './world.ts'

export type Signatory = Awaited<ReturnType<typeof createSigner>>
type Members<Roles extends OrganizationRole[]> = { [Index in keyof Roles]: Signatory & { memberId: string } }

/** An organization that demands so many approvals, and members of it with these roles, who have signing keys. */
export async function createSignatories<Roles extends OrganizationRole[]>(
  world: World,
  approvalsNeeded: number,
  ...roles: Roles
) {
  const owner = await createSigner(world)
  const { id } = await makeOrganization(world, owner)
  const members: (Signatory & { memberId: string })[] = []
  for (const role of roles) {
    const person = await createSigner(world)
    members.push({ ...person, memberId: (await join(world, { id, owner, role }, person)).memberId })
  }
  const set = (change: object) => askBusiness(world, owner, `PATCH /organizations/${id}`, change)
  assert.equal((await set({ approvalsNeeded })).statusCode, 200)
  const grant = (memberId: string, change: object) =>
    askBusiness(world, owner, `PATCH /organizations/${id}/members/${memberId}`, change)
  return { id, owner, set, grant, members: members as Members<Roles> }
}
