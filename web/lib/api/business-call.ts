import type { ResponseOf, Api, RequestOf } from '@countersign/protocol/api'
import { parseResponse, call, sendRequest, requestOf, textOf, type Parts } from './call.ts'
import { readSiteSettings } from '../page-data.ts'

/**
 * The bearer token of this page for the session whose cookie belongs to another host. It stays in the memory of this
 * page and is requested again before it expires.
 */
let token: { businessToken: string; untilMilliseconds: number } | undefined

const renewedBeforeSeconds = 30

async function bearer(): Promise<string> {
  if (token && performance.now() < token.untilMilliseconds) return token.businessToken
  const { businessToken, expiresInSeconds } = await call('POST /api/auth/session/business', {})
  token = {
    businessToken,
    untilMilliseconds: performance.now() + (expiresInSeconds - renewedBeforeSeconds) * 1000,
  }
  return businessToken
}

/** Calls an endpoint of the business host as the signed-in user. Throws `ApiError` or `NetworkError`. */
export async function callBusiness<Name extends keyof Api>(
  name: Name,
  given: RequestOf<Name>,
): Promise<ResponseOf<Name>> {
  return parseResponse(await send(name, given))
}

/** Calls an endpoint that needs no session, on any of the hosts. Throws `ApiError` or `NetworkError`. */
export async function callOpenly<Name extends keyof Api>(
  name: Name,
  given: RequestOf<Name>,
  origin = readSiteSettings().businessUrl,
): Promise<ResponseOf<Name>> {
  const { url, init } = requestOf(origin, name, given)
  return parseResponse(await sendRequest(url, { ...init, credentials: 'omit' }))
}

/** Calls an endpoint with a signature. Without one, nothing changes and the error contains what there is to sign. */
export async function callSigned<Name extends keyof Api>(
  name: Name,
  given: RequestOf<Name>,
  signedAction: { signature?: string },
): Promise<ResponseOf<Name>> {
  const { body, ...parts }: Parts = given
  return parseResponse(await send(name, { ...parts, body: { ...(typeof body === 'object' && body), signedAction } }))
}

/** Calls an endpoint whose response is not JSON. */
export async function callBusinessForText<Name extends keyof Api>(name: Name, given: RequestOf<Name>): Promise<string> {
  return textOf(await send(name, given))
}

/** Uploads a picture that an organization can make its logo. Throws `ApiError` or `NetworkError`. */
export async function uploadBusinessPicture(
  given: RequestOf<'POST /api/organizations/:organizationId/pictures'>,
  picture: Blob,
): Promise<ResponseOf<'POST /api/organizations/:organizationId/pictures'>> {
  const { url, init } = requestOf(
    readSiteSettings().businessUrl,
    'POST /api/organizations/:organizationId/pictures',
    given,
  )
  const headers = { authorization: `Bearer ${await bearer()}`, 'content-type': picture.type }
  return parseResponse(await sendRequest(url, { ...init, body: picture, headers, credentials: 'omit' }))
}

async function send(name: string, given: Parts): Promise<Response> {
  const { url, init } = requestOf(readSiteSettings().businessUrl, name, given)
  const authorization = `Bearer ${await bearer()}`
  // Mails that this request causes are in the language of the page.
  const headers = { ...init.headers, authorization, 'accept-language': document.documentElement.lang }
  const response = await sendRequest(url, { ...init, headers, credentials: 'omit' })
  // The session has ended. The next sign-in gets another bearer token.
  if (response.status === 401) token = undefined
  return response
}
