import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { transfer } from '../backup/transfer.ts'
import { reasonOf, refusalOf } from '../call.ts'
import { loadAdminToken, settingsOf } from '../settings.ts'
import { CliError, printJson } from '../terminal.ts'
import { findIdentityId } from './identity.ts'

export function addExport(people: Command): void {
  people
    .command('export')
    .description('export the data of an identity; its user sees it in their activity')
    .argument('<identity>', 'username or identity ID')
    .requiredOption('--out <file>', 'file to create; it must not exist')
    .action(async (given: string, { out }: { out: string }, command: Command) => {
      const settings = settingsOf(command)
      if (existsSync(out)) throw new CliError(`${out} already exists`)
      const identityId = await findIdentityId(settings, given)
      const response = await transfer(`${settings.baseUrl}/api/admin/identities/${identityId}/export`, {
        method: 'GET',
        headers: { authorization: `Bearer ${loadAdminToken(settings)}` },
      })
      if (!response.ok) throw await refusalOf(response)
      await write(response, out)
      if (settings.json) return printJson({ file: out })
      console.log(`Export written to ${out}.`)
    })
}

/** The file gets its final name only when it is complete. */
async function write({ body }: Response, out: string): Promise<void> {
  if (!body) throw new CliError('The server sent no export')
  const unfinished = `${out}.part`
  try {
    await pipeline(Readable.from(body), createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }))
    await rename(unfinished, out)
  } catch (cause) {
    await rm(unfinished, { force: true })
    throw new CliError(`The export was interrupted (${reasonOf(cause)})`, { cause })
  }
}
