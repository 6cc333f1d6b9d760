import type { ActivityEntry, ActivityKind } from '@countersign/protocol/accounts/account'
import { call } from '../../../lib/api/call.ts'

export type ActivityFilter = { kind: ActivityKind | 'all'; identityId: string; search: string }

export const noFilter: ActivityFilter = { kind: 'all', identityId: '', search: '' }

export type ActivityPage = { entries: ActivityEntry[]; nextCursor: string | null }

const pageSize = '50'
/** With a search, so many pages are read for one that is shown, if few events fit. */
const pagesPerSearch = 10
const enough = 20

/**
 * Reads the next events of an account that fit a filter. The service filters by kind and identity, this browser by the
 * words that the user looks for.
 */
export async function readActivityPage(
  { kind, identityId, search }: ActivityFilter,
  matches: (entry: ActivityEntry, search: string) => boolean,
  cursor: string | null | undefined,
): Promise<ActivityPage> {
  const entries: ActivityEntry[] = []
  let next = cursor
  for (let count = 0; count < pagesPerSearch; count += 1) {
    const querystring = {
      limit: pageSize,
      ...(kind !== 'all' && { kind }),
      ...(identityId !== '' && { identity_id: identityId }),
      ...(next && { cursor: next }),
    }
    const page = await call('GET /api/account/activity', { querystring })
    entries.push(...page.entries.filter((entry) => search === '' || matches(entry, search)))
    next = page.nextCursor
    if (next === null || entries.length >= enough || search === '') break
  }
  return { entries, nextCursor: next ?? null }
}
