import type { ServerContext } from '#platform/module/services.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { Session } from '#accounts/sessions/session.ts'

type Listing = Pick<ServerContext, 'rateLimits'> & { session: Session }

/** A list of all members counts once, and again for each so many of them: that is what it costs. */
const membersPerPoint = 1000

/** Counts a request for which the database reads members other than those of one page. Throws `rate_limited`. */
export function countMemberList({ rateLimits, session }: Listing, now: Date): Promise<void> {
  return rateLimits.count('member-lists-per-user', ownKey(session, now))
}

/** Reads up to `count` members whose ids come after this one, in the order of their ids. */
type ReadMembers<Row> = (after: string | undefined, count: number) => Promise<Row[]>

/** Lists all members of an organization that `read` finds. Throws `rate_limited`. */
export async function listAllMembers<Row extends { memberId: string }>(
  listing: Listing,
  read: ReadMembers<Row>,
  now: Date,
): Promise<Row[]> {
  const all: Row[] = []
  for (;;) {
    await countMemberList(listing, now)
    const some = await read(all.at(-1)?.memberId, membersPerPoint)
    all.push(...some)
    if (some.length < membersPerPoint) return all
  }
}
