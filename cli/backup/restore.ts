import { openAsBlob } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { backupMediaType } from '@countersign/protocol/operations/backup'
import type { Decrypter } from 'age-encryption'
import type { Command } from 'commander'
import { parseJsonResponse, refusalOf } from '../call.ts'
import { CliError, fieldsOf, printJson } from '../terminal.ts'
import { type Settings, loadAdminToken, settingsOf } from '../settings.ts'
import { transfer } from '../files/transfer.ts'
import { promptPassphrase } from './passphrase.ts'

type Options = { identity?: string }

export function addRestore(program: Command): void {
  program
    .command('restore')
    .description('restore a backup into a server without users and apps')
    .argument('<file>')
    .option('--identity <file>', 'file with the age key (AGE-SECRET-KEY-1…)')
    .addHelpText(
      'after',
      '\nWithout an identity it is decrypted with the passphrase in BACKUP_PASSPHRASE, or prompts for it.',
    )
    .action(async (file: string, { identity }: Options, command: Command) => {
      const settings = settingsOf(command)
      const answer = await send(decrypt(file, await decrypterFor(identity, settings)), settings)
      if (settings.json) return printJson(answer)
      console.log(
        `Restored backup of ${String(fieldsOf(answer).takenAt)}. Users must sign in again; consents are preserved.`,
      )
    })
}

async function decrypterFor(identity: string | undefined, settings: Settings): Promise<Decrypter> {
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  if (identity === undefined) decrypter.addPassphrase(await promptPassphrase(settings))
  else for (const key of await readKeys(identity)) decrypter.addIdentity(key)
  return decrypter
}

async function readKeys(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new CliError(`${file} cannot be read (${cause.message})`, { cause })
  })
  const keys = text.split(/\s+/).filter((word) => word.startsWith('AGE-SECRET-KEY-'))
  if (keys.length === 0) throw new CliError(`${file} contains no age key (AGE-SECRET-KEY-1…)`)
  return keys
}

/** Decrypts the file. Fails at its start with a wrong key, and later if it was altered. */
async function* decrypt(file: string, decrypter: Decrypter): AsyncGenerator<Uint8Array> {
  try {
    yield* await decrypter.decrypt((await openAsBlob(file)).stream())
  } catch (cause) {
    throw new CliError(`cannot decrypt ${file} (${reasonFor(cause)})`, { cause })
  }
}

/** Returns why a file was not decrypted: age speaks of identities where a passphrase or key is wrong. */
function reasonFor(cause: unknown): string {
  if (!(cause instanceof Error)) return 'no reason'
  return cause.message.startsWith('no identity matched') ? 'the passphrase or age key is wrong' : cause.message
}

async function send(backup: AsyncIterable<Uint8Array>, settings: Settings): Promise<unknown> {
  const response = await transfer(`${settings.baseUrl}/api/admin/restore`, {
    method: 'POST',
    headers: { authorization: `Bearer ${loadAdminToken(settings)}`, 'content-type': backupMediaType },
    body: backup,
  })
  if (!response.ok) throw await refusalOf(response)
  return parseJsonResponse(response)
}
