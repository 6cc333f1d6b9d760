import type { Operator } from '@countersign/protocol/accounts/operators'
import { type OperatorRole, operatorRoles } from '@countersign/protocol/formats/registries/permissions'
import { type Command, Option } from 'commander'
import { call } from '../call.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { CliError, printJson, printTable } from '../terminal.ts'

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
      const body = { handle: withoutAt(username), role }
      const operator = await call(settings, 'POST /api/admin/operators', { body })
      print(settings, operator)
    })
}

type Tokens = { keepTokens?: true }

export function addChange(operators: Command): void {
  operators
    .command('change')
    .description('change the role of an operator, and revoke the admin tokens that they created')
    .argument('<username>')
    .addOption(roleOption())
    .option('--keep-tokens', 'keep their admin tokens, limited to the new role')
    .action(async (username: string, { role, keepTokens }: Tokens & { role: OperatorRole }, command: Command) => {
      const settings = settingsOf(command)
      const { identityId } = await findOperator(settings, username)
      const sent = { params: { identityId }, body: { role, ...(keepTokens && { tokens: 'keep' as const }) } }
      print(settings, await call(settings, 'PATCH /api/admin/operators/:identityId', sent))
    })
}

export function addRemove(operators: Command): void {
  operators
    .command('remove')
    .description('remove an operator, and revoke the admin tokens that they created')
    .argument('<username>')
    .option('--keep-tokens', 'keep their admin tokens, which then belong to you')
    .action(async (username: string, { keepTokens }: Tokens, command: Command) => {
      const settings = settingsOf(command)
      const { identityId, handle } = await findOperator(settings, username)
      const querystring = keepTokens ? { tokens: 'keep' as const } : {}
      await call(settings, 'DELETE /api/admin/operators/:identityId', { params: { identityId }, querystring })
      if (settings.json) return printJson({ identityId, removed: true })
      console.log(`${handle} is no longer an operator.`)
    })
}

function roleOption(): Option {
  return new Option('--role <role>', 'what the operator may do').choices([...operatorRoles]).makeOptionMandatory()
}

async function findOperator(settings: Settings, username: string): Promise<Operator> {
  const { operators } = await call(settings, 'GET /api/admin/operators', {})
  const named = withoutAt(username).toLowerCase()
  const found = operators.find(({ handle, identityId }) => handle.toLowerCase() === named || identityId === named)
  if (!found) throw new CliError(`${username} is not an operator`)
  return found
}

function withoutAt(username: string): string {
  return username.replace(/^@/, '')
}

function print(settings: Settings, operator: Operator): void {
  if (settings.json) return printJson(operator)
  console.log(`${operator.handle} is an operator with the role ${operator.role}.`)
}

function rowOf({ identityId, handle, role, grantedAt }: Operator): string[] {
  return [identityId, handle, role, grantedAt]
}
