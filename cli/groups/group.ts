import type { Group } from '@countersign/protocol/accounts/groups'
import { call } from '../call.ts'
import type { Settings } from '../settings.ts'
import { CliError } from '../terminal.ts'

/** Finds the group with a key. */
export async function findGroup(settings: Settings, key: string): Promise<Group> {
  const { groups } = await call(settings, 'GET /api/admin/groups', { querystring: { key } })
  const [group] = groups
  if (!group) throw new CliError(`no group has the key ${key}`)
  return group
}

/** Returns a number of members in words: `1 member`. */
export function countMembers(count: number): string {
  return count === 1 ? '1 member' : `${count} members`
}

/** Returns a group as rows of name and value, without an absent description. */
export function rowsOf({ groupId, key, memberCount, createdAt, ...shown }: Group): string[][] {
  return [
    ['Key', key],
    ['Name', shown.displayName],
    ...(shown.description === null ? [] : [['Description', shown.description]]),
    ...(shown.protected ? [['Protected', 'yes: only owners change it']] : []),
    ...(shown.organizationId === null ? [] : [['Named by', `the identity providers of ${shown.organizationId}`]]),
    ['Members', String(memberCount)],
    ['ID', groupId],
    ['Created', createdAt],
  ]
}
