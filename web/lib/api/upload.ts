import type { Api, RequestOf, ResponseOf } from '@countersign/protocol/api'
import { readSiteSettings } from '../page-data.ts'
import { ofShownUser, parseResponse, requestOf, sendRequest } from './call.ts'

/** Endpoints of the API host that take a picture as their body. */
type Uploading = Extract<keyof Api, `PUT ${string}/${'avatar' | 'icon'}`>

/** Uploads a picture as the signed-in user. Throws `ApiError` or `NetworkError`. */
export async function upload<Name extends Uploading>(
  name: Name,
  given: RequestOf<Name>,
  picture: Blob,
): Promise<ResponseOf<Name>> {
  const { url, init } = requestOf(readSiteSettings().baseUrl, name, given)
  const headers = { ...ofShownUser(), 'content-type': picture.type }
  return parseResponse(await sendRequest(url, { ...init, body: picture, headers, credentials: 'include' }))
}

/** Endpoints of the admin API that take a file as their body. */
export type Importing = Extract<keyof Api, 'POST /api/admin/invitations/import' | 'PUT /api/admin/settings/logo'>

/** Sends a file to the admin API as one identity of the signed-in user. Throws `ApiError` or `NetworkError`. */
export async function uploadAs<Name extends Importing>(
  identityId: string,
  name: Name,
  { querystring, ...rest }: RequestOf<Name> & { querystring?: Record<string, string> },
  file: Blob,
): Promise<ResponseOf<Name>> {
  const given = { ...rest, querystring: { ...querystring, identity_id: identityId } }
  const { url, init } = requestOf(readSiteSettings().baseUrl, name, given)
  // Mails that this request causes are in the language of the page.
  const language = document.documentElement.lang
  const headers = { ...init.headers, ...ofShownUser(), 'content-type': file.type, 'accept-language': language }
  return parseResponse(await sendRequest(url, { ...init, body: file, headers, credentials: 'include' }))
}
