import type { Api, RequestOf, ResponseOf } from '@countersign/protocol/api'
import { readSiteSettings } from '../page-data.ts'
import { parseResponse, requestOf, sendRequest } from './call.ts'

/** Endpoints of the API host that take a picture as their body. */
type Uploading = Extract<keyof Api, `PUT ${string}/${'avatar' | 'icon'}`>

/** Uploads a picture as the signed-in user. Throws `ApiError` or `NetworkError`. */
export async function upload<Name extends Uploading>(
  name: Name,
  given: RequestOf<Name>,
  picture: Blob,
): Promise<ResponseOf<Name>> {
  const { url, init } = requestOf(readSiteSettings().baseUrl, name, given)
  const headers = { 'content-type': picture.type }
  return parseResponse(await sendRequest(url, { ...init, body: picture, headers, credentials: 'include' }))
}
