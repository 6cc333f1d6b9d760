import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Encrypter } from 'age-encryption'
import type { Command } from 'commander'
import { refusalOf } from '../call.ts'
import { Failure } from '../failure.ts'
import { readAdminToken, settingsOf, type Settings } from '../settings.ts'
import { printJson } from '../terminal.ts'
import { readPassphrase, requireStrong } from './secret.ts'
import { transfer } from './transfer.ts'

type Options = { out: string; recipient: string[] }

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('take an encrypted backup of everything that must survive')
    .requiredOption('--out <file>', 'the file to write, which must not exist')
    .option('--recipient <age1…>', 'an age public key that may read it; repeatable', collect, [])
    .addHelpText(
      'after',
      '\nWithout a recipient it is encrypted with the passphrase in BACKUP_PASSPHRASE, or asks for one.',
    )
    .action(async ({ out, recipient }: Options, command: Command) => {
      const settings = settingsOf(command)
      if (existsSync(out)) throw new Failure(`${out} is there already`)
      const encrypter = await encrypterFor(recipient, settings)
      await write(await open(settings), encrypter, out)
      if (settings.json) return printJson({ file: out })
      console.log(`${out} is written. Keep the server's SECRET_KEY beside it, in another place: both are needed.`)
    })
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

async function encrypterFor(recipients: string[], settings: Settings): Promise<Encrypter> {
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  if (recipients.length === 0) encrypter.setPassphrase(requireStrong(await readPassphrase(settings)))
  for (const recipient of recipients) addRecipient(encrypter, recipient)
  return encrypter
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient)
  } catch (cause) {
    throw new Failure(`${recipient} is no age recipient`, { cause })
  }
}

async function open(settings: Settings): Promise<ReadableStream<Uint8Array>> {
  const response = await transfer(`${settings.baseUrl}/api/admin/backup`, {
    method: 'GET',
    headers: { authorization: `Bearer ${readAdminToken(settings)}` },
  })
  if (!response.ok) throw await refusalOf(response)
  if (!response.body) throw new Failure('The server sent no backup')
  return response.body
}

/** The file has its name only when it is whole. */
async function write(backup: ReadableStream<Uint8Array>, encrypter: Encrypter, out: string): Promise<void> {
  const unfinished = `${out}.part`
  try {
    const target = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true })
    await pipeline(await encrypter.encrypt(backup), target)
    await rename(unfinished, out)
  } catch (cause) {
    await rm(unfinished, { force: true })
    throw new Failure(`The backup was cut off (${cause instanceof Error ? cause.message : 'no reason'})`, { cause })
  }
}
