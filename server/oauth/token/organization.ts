import type { Database } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import { tellOrganization, type Told } from '#organizations/membership/context.ts'
import type { Issued } from '#tokens/families/family.ts'

const refuse = refusals({
  invalid_grant: [400, 'This was given for an organization in which the person may not use it any more.'],
})

/** What a redemption has issued, with what is told of its organization. Refuses `invalid_grant`. */
export async function withOrganization(db: Database, issued: Issued): Promise<Issued & Told> {
  const told = await tellOrganization(db, issued.granted)
  if (!told) throw refuse.invalid_grant()
  return { ...issued, ...told }
}
