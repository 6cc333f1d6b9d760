import { normalizeHandle } from '@countersign/protocol/formats/handle'
import { ApiError } from '../../../lib/api/call.ts'
import type { useOperator } from './operator.ts'

/** Pages that a search for a username reads: some people have it as a name, too. */
const pagesMax = 20

/** Finds the ID of the identity with a username, with or without `@`. An ID is returned as it is. */
export async function findIdentityId(
  { ask }: Pick<ReturnType<typeof useOperator>, 'ask'>,
  given: string,
): Promise<string> {
  const written = given.trim()
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(written)) return written.toLowerCase()
  const handle = normalizeHandle(written.replace(/^@/, ''))
  let cursor: string | null | undefined
  for (let pages = 0; pages < pagesMax && cursor !== null; pages += 1) {
    const page = await ask('GET /api/admin/identities', {
      querystring: { q: handle, limit: '100', ...(cursor !== undefined && { cursor }) },
    })
    const found = page.identities.find((identity) => normalizeHandle(identity.handle) === handle)
    if (found) return found.identityId
    cursor = page.nextCursor
  }
  throw new ApiError(404, 'identity_not_found', `No identity has the username ${written}.`)
}
