import type { Served } from '../../server/testing/service.ts'
import type { Person } from '../fixtures/person.ts'
import { returned, signChange } from './signed-actions.ts'

/** Founds a council on the pages: the owner proposes it, each of the others accepts it, and the owner completes it. */
export async function foundCouncil(
  owner: Person,
  others: Person[],
  { businessUrl }: Pick<Served, 'businessUrl'>,
  { organizationId, approvalsNeeded }: { organizationId: string; approvalsNeeded: number },
): Promise<void> {
  const council = `${businessUrl}/organizations/${organizationId}/council`
  await owner.page.goto(council)
  await owner.control('save-approvals').waitFor()
  await owner.write('approvalsNeeded', String(approvalsNeeded))
  await owner.press('save-approvals')
  await returned(owner.page, 'proposed')
  for (const other of others) {
    await other.page.goto(council)
    await signChange(other, 'approve-proposal')
  }
  await owner.page.goto(council)
  await signChange(owner, 'complete-proposal')
}
