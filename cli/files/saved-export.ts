import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { reasonOf, refusalOf } from '../call.ts'
import { loadAdminToken, type Settings } from '../settings.ts'
import { CliError } from '../terminal.ts'
import { transfer } from './transfer.ts'

/** Downloads an export of the admin API to a new file. Throws `ApiError`, or `CliError` if the file exists already. */
export async function saveExport(settings: Settings, path: string, out: string): Promise<void> {
  if (existsSync(out)) throw new CliError(`${out} already exists`)
  const response = await transfer(`${settings.baseUrl}${path}`, {
    method: 'GET',
    headers: { authorization: `Bearer ${loadAdminToken(settings)}` },
  })
  if (!response.ok) throw await refusalOf(response)
  await write(response, out)
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
