import { readEventStream, type StreamEvent } from '@countersign/protocol/formats/files/event-stream'
import type { RequestOf } from '@countersign/protocol/api'
import { readSiteSettings } from '../page-data.ts'
import { NetworkError, ofShownUser, parseResponse, requestOf, sendRequest } from './call.ts'

/** Endpoints of the admin API whose answer lasts as long as it is read. */
type Streaming = 'GET /api/admin/audit/stream'

/**
 * Reads a stream of the admin API as one identity of the signed-in user, until the service ends it or `signal` aborts.
 * Throws `ApiError` or `NetworkError`.
 */
export async function* followAs<Name extends Streaming>(
  identityId: string,
  name: Name,
  { querystring }: RequestOf<Name>,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const given = { querystring: { ...querystring, identity_id: identityId } }
  const { url, init } = requestOf(readSiteSettings().baseUrl, name, given)
  const headers = { ...init.headers, ...ofShownUser() }
  const response = await sendRequest(url, { ...init, headers, credentials: 'include', signal })
  if (!response.ok || !response.body) return void (await parseResponse(response))
  yield* readEventStream(readText(response.body))
}

/** Reads the pieces of a body. Not every browser can iterate it. */
async function* readText(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (error) {
    throw new NetworkError('The stream broke off', { cause: error })
  } finally {
    await reader.cancel().catch(() => {})
  }
}
