import { isHandle, normalizeHandle } from '@countersign/protocol/formats/handle'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'
import { isAvailableHandle } from '#accounts/identities/handle.ts'
import { randomDigits } from '#platform/crypto/random.ts'

const baseCharactersMax = 24

/**
 * Returns a username for `userName`: the same if it fits and is free, else one that resembles its part before `@`.
 * `present` is the identity and the username that it has. This stays if `userName` does not fit.
 */
export async function handleFor(
  db: Database,
  { userName, present }: { userName: string; present: { identityId: IdentityId; handle: string } | undefined },
  now: Date,
): Promise<string> {
  if (present && normalizeHandle(present.handle) === normalizeHandle(userName)) return present.handle
  const renamed = { handle: userName, identityId: present?.identityId }
  if (isHandle(userName) && (await isAvailableHandle(db, renamed, now))) return userName
  if (present) return present.handle
  const base = similarTo(userName)
  if (isHandle(base) && (await isAvailableHandle(db, { handle: base }, now))) return base
  // Ten digits are never taken in practice. If they are, the directory sends the request again.
  return `${isHandle(base) ? base.slice(0, 20).replace(/\.$/, '') : 'user'}-${randomDigits(10)}`
}

/** Returns the letters and digits of a name before `@`, other characters as dots. */
function similarTo(userName: string): string {
  const [local = ''] = userName.normalize('NFKD').replaceAll(/\p{M}/gu, '').split('@', 1)
  const words = local.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return words.join('.').slice(0, baseCharactersMax).replace(/\.$/, '')
}
