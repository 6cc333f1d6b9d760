import { openAsBlob } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { backupMediaType } from '@countersign/protocol/operations/formats-backup'
import type { Decrypter } from 'age-encryption'
import type { Command } from 'commander'
import { readJson, refusalOf } from '../call.ts'
import { Failure } from '../failure.ts'
import { fieldsOf } from '../json.ts'
import { readAdminToken, settingsOf, type Settings } from '../settings.ts'
import { printJson } from '../terminal.ts'
import { readPassphrase } from './secret.ts'
import { transfer } from './transfer.ts'

type Options = { identity?: string }

export function addRestore(program: Command): void {
  program
    .command('restore')
    .description('restore a backup into a server that has no person and no app yet')
    .argument('<file>')
    .option('--identity <file>', 'the file with the age key (AGE-SECRET-KEY-1…)')
    .addHelpText(
      'after',
      '\nWithout an identity it is decrypted with the passphrase in BACKUP_PASSPHRASE, or asks for it.',
    )
    .action(async (file: string, { identity }: Options, command: Command) => {
      const settings = settingsOf(command)
      const answer = await send(decrypt(file, await decrypterFor(identity, settings)), settings)
      if (settings.json) return printJson(answer)
      console.log(`Restored as of ${String(fieldsOf(answer).takenAt)}. Everybody signs in again, and consents stand.`)
    })
}

async function decrypterFor(identity: string | undefined, settings: Settings): Promise<Decrypter> {
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  if (identity === undefined) decrypter.addPassphrase(await readPassphrase(settings))
  else for (const key of await readKeys(identity)) decrypter.addIdentity(key)
  return decrypter
}

async function readKeys(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new Failure(`${file} cannot be read (${cause.message})`, { cause })
  })
  const keys = text.split(/\s+/).filter((word) => word.startsWith('AGE-SECRET-KEY-'))
  if (keys.length === 0) throw new Failure(`${file} has no age key (AGE-SECRET-KEY-1…)`)
  return keys
}

/** What is in the file; fails at its beginning with a wrong key, and later where it was altered. */
async function* decrypt(file: string, decrypter: Decrypter): AsyncGenerator<Uint8Array> {
  try {
    yield* await decrypter.decrypt((await openAsBlob(file)).stream())
  } catch (cause) {
    throw new Failure(`${file} does not open (${cause instanceof Error ? cause.message : 'no reason'})`, { cause })
  }
}

async function send(backup: AsyncIterable<Uint8Array>, settings: Settings): Promise<unknown> {
  const response = await transfer(`${settings.baseUrl}/api/admin/restore`, {
    method: 'POST',
    headers: { authorization: `Bearer ${readAdminToken(settings)}`, 'content-type': backupMediaType },
    body: backup,
  })
  if (!response.ok) throw await refusalOf(response)
  return readJson(response)
}
