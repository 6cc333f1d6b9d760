import type { Api, RequestOf, ResponseOf } from '@countersign/protocol/api'
import { readSiteSettings } from '../page-data.ts'
import { parseResponse, requestOf, sendRequest } from './call.ts'

/** Calls an endpoint that is open to everyone, and so without cookies. Throws `ApiError` or `NetworkError`. */
export async function callOpen<Name extends keyof Api>(name: Name, given: RequestOf<Name>): Promise<ResponseOf<Name>> {
  const { url, init } = requestOf(readSiteSettings().baseUrl, name, given)
  return parseResponse(await sendRequest(url, { ...init, credentials: 'omit' }))
}
