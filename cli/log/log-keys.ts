import type { LogKeySet } from '@countersign/protocol/signing/receipt-verification'
import { reach, readJson } from '../call.ts'
import { Failure } from '../failure.ts'
import { fieldsOf, listOf, textOf } from '../json.ts'
import type { Settings } from '../settings.ts'

/** The keys of the log as the server tells them now. */
export async function fetchLogKeys({ baseUrl }: Settings): Promise<LogKeySet> {
  const response = await reach(`${baseUrl}/api/transparency/jwks`)
  if (!response.ok) throw new Failure(`${response.url} answered ${response.status}`)
  return readLogKeys(await readJson(response))
}

export function readLogKeys(value: unknown): LogKeySet {
  const { keys, origin } = fieldsOf(value)
  return { keys: listOf(keys), origin: textOf(origin) || undefined }
}
