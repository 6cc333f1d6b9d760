/** Reads what the service answers about the user's keys. Each answer may be a lie, so forms are checked. */
import type { MasterKey } from '@countersign/keys/master-key'
import type { AnsweredHistory, NamedKey } from '@countersign/protocol/formats/self-record/answers'
import { isLoggedLeaf } from '@countersign/protocol/formats/self-record/evidence'
import type { SizeProof } from '@countersign/protocol/formats/self-record/log-heads'
import { isObject } from '@countersign/protocol/formats/json'
import { ApiError, NetworkError, call, parseResponse, requestOf, sendRequest } from '../../api/call.ts'
import { readSiteSettings } from '../../page-data.ts'

/** The service gave no usable answer, so nothing can be checked now. */
export class UnreachableError extends Error {}

/** More pages of 100 entries than an identity has. */
const pagesMax = 8
const patienceMilliseconds = 15_000

/** Waits for an answer. Throws `UnreachableError` without one, and errors that concern the session as they are. */
export async function reach<Answer>(work: Promise<Answer>): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new UnreachableError('No answer in time')), patienceMilliseconds)
  })
  try {
    return await Promise.race([work, timeout])
  } catch (error) {
    const isDown = error instanceof ApiError && (error.status >= 500 || error.status === 429)
    if (isDown || error instanceof NetworkError) throw new UnreachableError('No answer', { cause: error })
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Reads the current keys of the user's identities, and whether the master key opens each. */
export async function readNamedKeys(masterKey: MasterKey): Promise<NamedKey[]> {
  const { keys } = await call('GET /api/signing/keys', {})
  if (!Array.isArray(keys)) throw malformed()
  return Promise.all(
    keys.map(async ({ identityId, handle, publicKey, encryptedPrivateKey }) => {
      if (![identityId, handle, publicKey, encryptedPrivateKey].every((each) => typeof each === 'string'))
        throw malformed()
      const isOwn = await masterKey.ownsSigningKey(identityId, { publicKey, encryptedPrivateKey })
      return { identityId, handle, publicKey, isOwn }
    }),
  )
}

export async function readIdentityIds(): Promise<string[]> {
  const { identities } = await call('GET /api/identities', {})
  if (!Array.isArray(identities)) throw malformed()
  return identities.map(({ identityId }) => identityId)
}

/** Reads the sealed record; null if the service has none. */
export async function readSealedRecord(): Promise<string | null> {
  const { record } = await call('GET /api/account/self-record', {})
  if (record === null) return null
  if (typeof record?.ciphertext !== 'string') throw malformed()
  return record.ciphertext
}

/** Reads all log entries of an identity. */
export async function readHistory(identityId: string): Promise<AnsweredHistory> {
  const pages: AnsweredHistory['pages'] = []
  let start = 0
  while (pages.length < pagesMax) {
    const page: unknown = await readLog(`GET /api/transparency/identities/:identityId`, {
      params: { identityId },
      querystring: { start: String(start) },
    })
    if (!isObject(page) || typeof page['checkpoint'] !== 'string') throw malformed()
    const { checkpoint, events, nextStart } = page
    if (!Array.isArray(events) || !events.every(isLoggedLeaf)) throw malformed()
    pages.push({ checkpoint, events })
    if (nextStart === null) return { identityId, pages }
    if (typeof nextStart !== 'number') throw malformed()
    start = nextStart
  }
  throw malformed()
}

/** Reads the log's key in the format of C2SP log tools. */
export async function readLogKey(): Promise<string> {
  const answer: unknown = await readLog('GET /api/transparency/jwks', {})
  if (!isObject(answer) || typeof answer['verifierKey'] !== 'string') throw malformed()
  return answer['verifierKey']
}

/** Reads the proof between two sizes of the log; undefined if the log has none. */
export async function readProof({ from, to }: { from: number; to: number }): Promise<SizeProof | undefined> {
  const querystring = { from: String(from), to: String(to) }
  try {
    const answer: unknown = await readLog('GET /api/transparency/consistency', { querystring })
    if (!isObject(answer) || !Array.isArray(answer['hashes'])) return undefined
    return { from, to, hashes: answer['hashes'].filter((hash) => typeof hash === 'string') }
  } catch (error) {
    // A log that has grown from one size to the other has a proof.
    if (error instanceof ApiError && error.status === 400) return undefined
    throw error
  }
}

/** Calls an endpoint of the log, which is open to everyone and so takes no cookies. */
async function readLog(name: string, given: Parameters<typeof requestOf>[2]): Promise<unknown> {
  const { url, init } = requestOf(readSiteSettings().baseUrl, name, given)
  return parseResponse<unknown>(await sendRequest(url, { ...init, credentials: 'omit' }))
}

function malformed(): UnreachableError {
  return new UnreachableError('The answer has not the form of the interface')
}
