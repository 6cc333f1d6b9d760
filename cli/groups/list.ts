import type { Group, GroupMember } from '@countersign/protocol/accounts/groups'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf, type Settings } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { findGroup, rowsOf } from './group.ts'

export function addList(groups: Command): void {
  groups
    .command('list')
    .description('list the groups, by key')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const found: Group[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await call(settings, 'GET /api/admin/groups', { querystring: cursor ? { cursor } : {} })
        found.push(...page.groups)
        cursor = page.nextCursor
      }
      if (settings.json) return printJson({ groups: found })
      if (found.length === 0) return console.log('No groups yet: countersign groups create')
      const rows = found.map(({ key, displayName, memberCount }) => [key, displayName, String(memberCount)])
      printTable([['Key', 'Name', 'Members'], ...rows])
    })
}

export function addShow(groups: Command): void {
  groups
    .command('show')
    .description('show a group')
    .argument('<key>')
    .option('--members', 'list its members too')
    .action(async (key: string, { members }: { members?: true }, command: Command) => {
      const settings = settingsOf(command)
      const group = await findGroup(settings, key)
      const listed = members && (await listMembers(settings, group.groupId))
      if (settings.json) return printJson({ ...group, ...(listed && { members: listed }) })
      printTable(rowsOf(group))
      if (!listed?.length) return
      console.log()
      const rows = listed.map(({ handle, displayName, identityId }) => [`@${handle}`, displayName, identityId])
      printTable([['Username', 'Name', 'Identity ID'], ...rows])
    })
}

async function listMembers(settings: Settings, groupId: string): Promise<GroupMember[]> {
  const found: GroupMember[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await call(settings, 'GET /api/admin/groups/:groupId/members', {
      params: { groupId },
      querystring: cursor ? { cursor } : {},
    })
    found.push(...page.members)
    cursor = page.nextCursor
  }
  return found
}
