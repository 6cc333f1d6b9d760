import type { AppRoles, AppRolesChange, RoleAssignment } from '@countersign/protocol/clients/roles'
import type { Command } from 'commander'
import { call } from '../../call.ts'
import { findIdentityId } from '../../people/identity.ts'
import { settingsOf, type Settings } from '../../settings.ts'
import { CliError, printJson, printTable } from '../../terminal.ts'
import { collect } from '../../options/values.ts'

type Given = { group?: string[] | undefined; identity?: string[] | undefined }
type Options = Given & { name?: string }
type Assignees = { groups: string[]; identities: string[] }

export function addShow(roles: Command): void {
  roles
    .command('show')
    .description('show the roles of an app, and who has them')
    .argument('<clientId>')
    .action(async (clientId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      print(settings, await read(settings, clientId))
    })
}

export function addSet(roles: Command): void {
  withAssignees(roles.command('set').description('define a role of an app, or change it'), 'replaces its')
    .option('--name <name>', 'its display name')
    .action(async (clientId: string, role: string, { name, group, identity }: Options, command: Command) => {
      const settings = settingsOf(command)
      const before = await read(settings, clientId)
      const present = before.roles.find(({ key }) => key === role)
      const defined = { key: role, displayName: name ?? present?.displayName ?? role }
      const others = before.roles.map((each) => (each.key === role ? defined : each))
      const assigned = assignmentOf(before, role)
      const given = await resolve(settings, { group, identity })
      await write(settings, clientId, before, {
        roles: present ? others : [...others, defined],
        assignment: {
          role,
          groups: group ? given.groups : assigned.groups,
          identities: identity ? given.identities : assigned.identities,
        },
      })
    })
}

export function addAssign(roles: Command): void {
  addChange(roles, 'assign', 'give a role of an app to groups and identities', (all, given) => [...all, ...given])
}

export function addUnassign(roles: Command): void {
  addChange(roles, 'unassign', 'take a role of an app from groups and identities', (all, given) =>
    all.filter((each) => !given.includes(each)),
  )
}

export function addRemove(roles: Command): void {
  roles
    .command('remove')
    .description('remove a role from an app and from all who have it')
    .argument('<clientId>')
    .argument('<role>')
    .action(async (clientId: string, role: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const before = await read(settings, clientId)
      requireRole(before, role)
      const left = before.roles.filter(({ key }) => key !== role)
      await write(settings, clientId, before, { roles: left, assignment: { role, groups: [], identities: [] } })
    })
}

function addChange(
  roles: Command,
  name: 'assign' | 'unassign',
  description: string,
  change: (all: string[], given: string[]) => string[],
): void {
  withAssignees(
    roles.command(name).description(description),
    name === 'assign' ? 'gives it to a' : 'takes it from a',
  ).action(async (clientId: string, role: string, options: Options, command: Command) => {
    const settings = settingsOf(command)
    const before = await read(settings, clientId)
    requireRole(before, role)
    const assigned = assignmentOf(before, role)
    const given = await resolve(settings, options)
    await write(settings, clientId, before, {
      roles: before.roles,
      assignment: {
        role,
        groups: change(assigned.groups, given.groups),
        identities: change(assigned.identities, given.identities),
      },
    })
  })
}

function withAssignees(command: Command, does: string): Command {
  const none = does.startsWith('replaces') ? "; '' for none" : ''
  return command
    .argument('<clientId>')
    .argument('<role>', 'its key')
    .option('--group <key>', `${does} group (repeatable)${none}`, collect)
    .option('--identity <identity>', `${does} identity, by username or ID (repeatable)${none}`, collect)
}

function read(settings: Settings, clientId: string): Promise<AppRoles> {
  return call(settings, 'GET /api/admin/apps/:clientId/roles', { params: { clientId } })
}

/** Sends all roles and assignments, with those of one role replaced. */
async function write(
  settings: Settings,
  clientId: string,
  before: AppRoles,
  { roles, assignment }: { roles: AppRolesChange['roles']; assignment: { role: string } & Assignees },
): Promise<void> {
  const { role, groups, identities } = assignment
  const others = before.roleAssignments.filter((each) => each.role !== role)
  const changed = { role, groups: [...new Set(groups)], identities: [...new Set(identities)] }
  const roleAssignments = groups.length + identities.length > 0 ? [...others, changed] : others
  // What another operator has changed since is not overwritten.
  const headers = { 'if-match': `"${before.version}"` }
  const sent = { params: { clientId }, headers, body: { roles, roleAssignments } }
  print(settings, await call(settings, 'PUT /api/admin/apps/:clientId/roles', sent))
}

function requireRole({ roles }: AppRoles, role: string): void {
  if (!roles.some(({ key }) => key === role)) throw new CliError(`the app has no role ${role}`)
}

function assignmentOf({ roleAssignments }: AppRoles, role: string): RoleAssignment {
  return roleAssignments.find((each) => each.role === role) ?? { role, groups: [], identities: [] }
}

/** Returns the given groups, and the IDs of the given identities. */
async function resolve(settings: Settings, { group = [], identity = [] }: Given): Promise<Assignees> {
  const identities: string[] = []
  for (const each of identity) if (each !== '') identities.push(await findIdentityId(settings, each))
  return { groups: group.filter((key) => key !== ''), identities }
}

function print(settings: Settings, app: AppRoles): void {
  if (settings.json) return printJson(app)
  if (app.roles.length === 0) return console.log('No roles yet: countersign apps roles set')
  const handles = new Map(app.identities.map(({ identityId, handle }) => [identityId, `@${handle}`]))
  const rows = app.roles.map(({ key, displayName }) => {
    const { groups, identities } = assignmentOf(app, key)
    return [key, displayName, groups.join(' '), identities.map((id) => handles.get(id) ?? id).join(' ')]
  })
  printTable([['Key', 'Name', 'Groups', 'Identities'], ...rows])
}
