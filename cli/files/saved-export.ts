import { refusalOf } from '../call.ts'
import { loadAdminToken, type Settings } from '../settings.ts'
import { CliError } from '../terminal.ts'
import { writeNewFile } from './new-file.ts'
import { transfer } from './transfer.ts'

/** Downloads an export of the admin API to a new file. Throws `ApiError`, or `CliError` if the file exists already. */
export async function saveExport(settings: Settings, path: string, out: string): Promise<void> {
  await writeNewFile({ out, what: 'export' }, async () => {
    const response = await transfer(`${settings.baseUrl}${path}`, {
      method: 'GET',
      headers: { authorization: `Bearer ${loadAdminToken(settings)}` },
    })
    if (!response.ok) throw await refusalOf(response)
    if (!response.body) throw new CliError('The server sent no export')
    return response.body
  })
}
