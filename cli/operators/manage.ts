import type { Operator } from '@countersign/protocol/accounts/operators'
import { type OperatorRole, operatorRoles } from '@countersign/protocol/formats/registries/permissions'
import { type Command, Option } from 'commander'
import { call } from '../call.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { findIdentityId } from '../people/identity.ts'
import { printJson, printTable } from '../terminal.ts'

export function addList(operators: Command): void {
  operators
    .command('list')
    .description('list the operators')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const answer = await call(settings, 'GET /api/admin/operators', {})
      if (settings.json) return printJson(answer)
      if (answer.operators.length === 0)
        return console.log('None yet: countersign operators add <username> --role owner')
      printTable([['ID', 'Username', 'Role', 'Since'], ...answer.operators.map(rowOf)])
    })
}

export function addAdd(operators: Command): void {
  operators
    .command('add')
    .description('make an identity an operator')
    .argument('<username>')
    .addOption(roleOption())
    .action(async (username: string, { role }: { role: OperatorRole }, command: Command) => {
      const settings = settingsOf(command)
      const body = { handle: username.replace(/^@/, ''), role }
      const operator = await call(settings, 'POST /api/admin/operators', { body })
      print(settings, operator)
    })
}

type Tokens = { keepTokens?: true }

export function addChange(operators: Command): void {
  operators
    .command('change')
    .description('change the role of an operator, and revoke the admin tokens that they created')
    .argument('<identity>', 'username or identity ID')
    .addOption(roleOption())
    .option('--keep-tokens', 'keep their admin tokens, limited to the new role')
    .action(async (given: string, { role, keepTokens }: Tokens & { role: OperatorRole }, command: Command) => {
      const settings = settingsOf(command)
      const identityId = await findIdentityId(settings, given)
      const sent = { params: { identityId }, body: { role, ...(keepTokens && { tokens: 'keep' as const }) } }
      print(settings, await call(settings, 'PATCH /api/admin/operators/:identityId', sent))
    })
}

export function addRemove(operators: Command): void {
  operators
    .command('remove')
    .description('remove an operator, and revoke the admin tokens that they created')
    .argument('<identity>', 'username or identity ID')
    .option('--keep-tokens', 'keep their admin tokens, which then belong to you')
    .action(async (given: string, { keepTokens }: Tokens, command: Command) => {
      const settings = settingsOf(command)
      const identityId = await findIdentityId(settings, given)
      const querystring = keepTokens ? { tokens: 'keep' as const } : {}
      await call(settings, 'DELETE /api/admin/operators/:identityId', { params: { identityId }, querystring })
      if (settings.json) return printJson({ identityId, removed: true })
      console.log(`${given} is no longer an operator.`)
    })
}

function roleOption(): Option {
  return new Option('--role <role>', 'what the operator may do').choices([...operatorRoles]).makeOptionMandatory()
}

function print(settings: Settings, operator: Operator): void {
  if (settings.json) return printJson(operator)
  console.log(`@${operator.handle} is an operator with the role ${operator.role}.`)
}

function rowOf({ identityId, handle, role, grantedAt }: Operator): string[] {
  return [identityId, `@${handle}`, role, grantedAt]
}
