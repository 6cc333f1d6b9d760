import type { LogKeySet } from '@countersign/protocol/signing/receipt-verification'
import { parseJsonResponse, reach } from '../call.ts'
import { CliError, fieldsOf, listOf, textOf } from '../terminal.ts'
import type { Settings } from '../settings.ts'

/** Fetches the current log keys of the server. */
export async function fetchLogKeys({ baseUrl }: Settings): Promise<LogKeySet> {
  const response = await reach(`${baseUrl}/api/transparency/jwks`)
  if (!response.ok) throw new CliError(`${response.url} returned ${response.status}`)
  return readLogKeys(await parseJsonResponse(response))
}

export function readLogKeys(value: unknown): LogKeySet {
  const { keys, origin } = fieldsOf(value)
  return { keys: listOf(keys), origin: textOf(origin) || undefined }
}
