import type { ResponseOf } from '@countersign/protocol/api'
import type { AdminIdentity, AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { useOperator } from '../acting/operator.ts'
import { useReading } from '../reading/use-reading.ts'

/** Which identities to show. An empty text does not filter. */
export type PeopleFilter = { q: string; status: 'all' | AdminIdentity['status']; group: string }

type Answer = ResponseOf<'GET /api/admin/identities'>

/** What was found so far. `isShort`: the server stopped before it had filled the last page. */
export type PeoplePage = Answer & { isShort: boolean }

const pageSize = 25

/** A pause in typing after which the search begins. */
const searchDelay = 300

/** Reads the identities that fit a filter: the first page when the filter changes, and more on request. */
export function usePeople(filter: PeopleFilter) {
  const { ask } = useOperator()
  const q = filter.q.trim()
  const readPage = async (cursor?: string): Promise<PeoplePage> => {
    const page = await ask('GET /api/admin/identities', {
      querystring: {
        limit: String(pageSize),
        ...(q !== '' && { q }),
        ...(filter.status !== 'all' && { status: filter.status }),
        ...(filter.group !== '' && { group: filter.group }),
        ...(cursor !== undefined && { cursor }),
      },
    })
    return { ...page, isShort: page.identities.length < pageSize }
  }
  const people = useReading(() => readPage(), [q, filter.status, filter.group], q === '' ? 0 : searchDelay)
  const readMore = async () => {
    const { value } = people
    if (!value || value.nextCursor === null) return
    const next = await readPage(value.nextCursor)
    people.update(({ identities }) => ({ ...next, identities: [...identities, ...next.identities] }))
  }
  const replace = (changed: AdminIdentityDetails) =>
    people.update(({ identities, ...page }) => ({
      ...page,
      identities: identities.map((each) => (each.identityId === changed.identityId ? changed : each)),
    }))
  return { ...people, readMore, replace }
}
