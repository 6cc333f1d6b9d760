import { call } from '../../../lib/call.ts'
import { saveFile } from '../../../lib/save-file.ts'

/** Saves everything that the service holds about the person as a file of theirs. */
export async function saveExport(fileName: string): Promise<void> {
  const everything = await call('GET /api/account/export', {})
  saveFile(JSON.stringify(everything, null, 2), 'application/json', fileName)
}
