import type { Encrypter } from 'age-encryption'
import type { Command } from 'commander'
import { refusalOf } from '../call.ts'
import { CliError, printJson } from '../terminal.ts'
import { type Settings, loadAdminToken, settingsOf } from '../settings.ts'
import { requireNew, writeNewFile } from '../files/new-file.ts'
import { transfer } from '../files/transfer.ts'
import { promptPassphrase, requireStrongPassphrase } from './passphrase.ts'
import { collect } from '../options/values.ts'

type Options = { out: string; recipient: string[] }

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('create an encrypted backup')
    .requiredOption('--out <file>', 'file to create; it must not exist')
    .option('--recipient <age1…>', 'age public key that can decrypt it (repeatable)', collect, [])
    .addHelpText(
      'after',
      '\nWithout a recipient it is encrypted with the passphrase in BACKUP_PASSPHRASE, or prompts for one.',
    )
    .action(async ({ out, recipient }: Options, command: Command) => {
      const settings = settingsOf(command)
      requireNew(out)
      const encrypter = await encrypterFor(recipient, settings)
      await writeNewFile({ out, what: 'backup' }, async () => encrypter.encrypt(await open(settings)))
      if (settings.json) return printJson({ file: out })
      console.log(`Backup written to ${out}. Store SECRET_KEY separately: restoring needs both.`)
    })
}

async function encrypterFor(recipients: string[], settings: Settings): Promise<Encrypter> {
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  if (recipients.length === 0) encrypter.setPassphrase(requireStrongPassphrase(await promptPassphrase(settings)))
  for (const recipient of recipients) addRecipient(encrypter, recipient)
  return encrypter
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient)
  } catch (cause) {
    throw new CliError(`${recipient} is not an age recipient`, { cause })
  }
}

async function open(settings: Settings): Promise<ReadableStream<Uint8Array>> {
  const response = await transfer(`${settings.baseUrl}/api/admin/backup`, {
    method: 'GET',
    headers: { authorization: `Bearer ${loadAdminToken(settings)}` },
  })
  if (!response.ok) throw await refusalOf(response)
  if (!response.body) throw new CliError('The server sent no backup')
  return response.body
}
