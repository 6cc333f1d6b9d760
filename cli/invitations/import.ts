import { readFile } from 'node:fs/promises'
import type { InvitationImport } from '@countersign/protocol/accounts/invitations'
import type { Command } from 'commander'
import { sendFile } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { CliError, printJson, printTable } from '../terminal.ts'

type Options = { dryRun?: boolean; skipErrors?: boolean }

export function addImport(invitations: Command): void {
  invitations
    .command('import')
    .description('invite the people of a CSV file, each by a mail')
    .argument('<file>', 'columns: email,handle,displayName,groups,language,expiresInDays')
    .option('--dry-run', 'check the file, and invite no one')
    .option('--skip-errors', 'invite the people of good rows; by default, a bad row stops the import')
    .action(async (file: string, { dryRun = false, skipErrors = false }: Options, command: Command) => {
      const settings = settingsOf(command)
      const body = await readFile(file).catch((cause: Error) => {
        throw new CliError(`${file} cannot be read (${cause.message})`, { cause })
      })
      const send = (querystring: Record<string, string>) =>
        sendFile(settings, 'POST /api/admin/invitations/import', { querystring }, { body, type: 'text/csv' })
      const checked = await send({ dryRun: 'true' })
      const stops = checked.failed > 0 && !skipErrors
      const answer = dryRun || stops ? checked : await send({ dryRun: 'false', onError: skipErrors ? 'skip' : 'abort' })
      if (answer.failed > 0) process.exitCode = 1
      if (settings.json) return printJson(answer)
      printFaults(answer)
      console.log(summaryOf(answer, stops && !dryRun))
    })
}

function printFaults({ rows, failed }: InvitationImport): void {
  if (failed === 0) return
  const faults = rows.flatMap(({ row, errors }) =>
    errors.map(({ field, message }) => [String(row), field ?? '', message]),
  )
  printTable([['Row', 'Column', 'Fault'], ...faults])
  console.log('')
}

function summaryOf({ importId, total, ok, failed }: InvitationImport, stops: boolean): string {
  const others = total - ok - failed
  const counts = [
    `${ok} to invite`,
    ...(others > 0 ? [`${others} invited already`] : []),
    ...(failed > 0 ? [`${failed} with faults`] : []),
  ].join(', ')
  const already = others > 0 ? ` ${others} invited already.` : ''
  const mails = ok > 0 ? ' The mails are sent in the background.' : ''
  if (importId !== null) return `Invited ${ok} of ${total}.${already}${mails}`
  return stops
    ? `${counts}. No one was invited: correct the file, or pass --skip-errors.`
    : `${counts}. No one was invited.`
}
