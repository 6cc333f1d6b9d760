import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson } from '../terminal.ts'
import { findIdentityId } from '../people/identity.ts'
import { countMembers, findGroup } from './group.ts'

export function addAdd(groups: Command): void {
  addMembersCommand(groups, 'add', 'make identities members of a group')
}

export function addRemove(groups: Command): void {
  addMembersCommand(groups, 'remove', 'remove identities from a group')
}

function addMembersCommand(groups: Command, name: 'add' | 'remove', description: string): void {
  groups
    .command(name)
    .description(description)
    .argument('<key>')
    .argument('<identity...>', 'usernames or identity IDs')
    .action(async (key: string, given: string[], _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const { groupId } = await findGroup(settings, key)
      const identityIds = new Set<string>()
      for (const each of given) identityIds.add(await findIdentityId(settings, each))
      const sent = { params: { groupId }, body: { [name]: [...identityIds] } }
      const answer = await call(settings, 'POST /api/admin/groups/:groupId/members/batch', sent)
      if (settings.json) return printJson({ key, ...answer })
      const { added, removed, memberCount } = answer
      const done = name === 'add' ? `Added ${added} to ${key}` : `Removed ${removed} from ${key}`
      console.log(`${done}, which has ${countMembers(memberCount)} now.`)
    })
}
