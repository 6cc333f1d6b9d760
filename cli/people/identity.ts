import { InvalidArgumentError } from 'commander'
import { isUuid } from '@countersign/protocol/values'
import { normalizeHandle } from '@countersign/protocol/formats/handle'
import { call } from '../call.ts'
import type { Settings } from '../settings.ts'
import { CliError } from '../terminal.ts'

const pageMax = 100
/** Pages that a search for a username reads: some people have it as a name, too. */
const pagesMax = 20

/** Finds the ID of the identity with a username, with or without `@`. An ID is returned as it is. */
export async function findIdentityId(settings: Settings, given: string): Promise<string> {
  if (isUuid(given.toLowerCase())) return given.toLowerCase()
  const handle = normalizeHandle(given.replace(/^@/, ''))
  let cursor: string | null | undefined
  for (let pages = 0; pages < pagesMax && cursor !== null; pages += 1) {
    const page = await call(settings, 'GET /api/admin/identities', {
      querystring: { q: handle, limit: String(pageMax), ...(cursor !== undefined && { cursor }) },
    })
    const found = page.identities.find((identity) => normalizeHandle(identity.handle) === handle)
    if (found) return found.identityId
    cursor = page.nextCursor
  }
  throw new CliError(`no identity has the username ${given}`)
}

/** Parses a number of items to list. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Must be a whole number.')
  return Number(text)
}

/** Lists items of pages: at most `most`, and of each page no more than that needs. */
export async function listPages<Item>(
  most: number,
  read: (querystring: { limit: string; cursor?: string }) => Promise<{ items: Item[]; nextCursor: string | null }>,
): Promise<Item[]> {
  const found: Item[] = []
  for (let cursor: string | null | undefined; cursor !== null && found.length < most;) {
    const limit = String(Math.min(pageMax, most - found.length))
    const page = await read({ limit, ...(cursor !== undefined && { cursor }) })
    found.push(...page.items)
    cursor = page.nextCursor
  }
  return found
}
