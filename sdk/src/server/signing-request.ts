import { limits } from '@countersign/protocol/formats/limits'
import { isReservedPayload } from '@countersign/protocol/formats/signing/reserved-payload'
import { CountersignError } from '../shared/error.ts'
import { exchange, isRecord } from '../shared/exchange.ts'
import type { Operations } from '../shared/api-types.ts'
import { verifySignature } from './signature.ts'

type Opening = Operations['POST /api/signing/request']
type Watching = Operations['GET /api/signing/request/{requestId}/status']
type Opened = Opening['answer']
type Status = Watching['answer']
type Ended = Status & { status: Exclude<Status['status'], 'pending'> }

/** The app, and where its Countersign is. */
export type App = { baseUrl: URL; authUrl: URL; clientId: string; clientSecret: string }

export type NewSigningRequest = Omit<Opening['body'], 'clientId' | 'clientSecret' | 'organizationId' | 'identityId'> & {
  /** Who should sign: the `sub` of an ID token. */
  identityId: string
}

/** A request that waits for its answer. It may be kept as JSON, and waited for by another process. */
export type SigningRequest = {
  requestId: string
  identityId: string
  payload: string
  /** The only key whose signature will be believed. */
  publicKey: string
  expiresAt: string
  /** The page on which the person signs. */
  signingUrl: string
}

export type Waiting = {
  signal?: AbortSignal | undefined
  /** How long after a request has ended its end may be heard of, 60 if not given: clocks differ, services restart. */
  graceSeconds?: number | undefined
}

/** What became of a request. A signature that is here was verified. */
export type Outcome =
  | {
      status: 'signed'
      requestId: string
      identityId: string
      payload: string
      signature: string
      publicKey: string
      resolvedAt: string
    }
  | { status: 'denied'; requestId: string; identityId: string }
  | { status: 'expired'; requestId: string; identityId: string }

const openingPatienceMilliseconds = 15_000
/** Longer than it is asked to wait. */
const statusPatienceMilliseconds = (limits.signingWaitSecondsMax + 15) * 1000
const restMilliseconds = 1000
const backOffMillisecondsMax = 8000

/** Asks an identity to sign a text. Not tried again by itself: it may have been done, and would then be asked twice. */
export async function createSigningRequest(app: App, wanted: NewSigningRequest): Promise<SigningRequest> {
  const { requestId, publicKey, expiresAt } = await askFor(app, wanted)
  if (publicKey === undefined) throw unexpected(notOpened)
  const { identityId, payload } = wanted
  return { requestId, identityId, payload, publicKey, expiresAt, signingUrl: pageOf(app, requestId) }
}

/**
 * Opens a request to an identity or an organization. Throws `reserved_payload`, before anything is sent, for a text
 * that could be a message which Countersign itself has keys sign.
 */
export async function askFor(app: App, wanted: Omit<Opening['body'], 'clientId' | 'clientSecret'>): Promise<Opened> {
  if (isReservedPayload(wanted.payload)) throw new CountersignError(reserved)
  const { clientId, clientSecret, baseUrl } = app
  const json: Opening['body'] = { ...wanted, clientId, clientSecret }
  const patience = { patienceMilliseconds: openingPatienceMilliseconds }
  const opened = await exchange(new URL('/api/signing/request', baseUrl), { json, ...patience })
  if (!isOpened(opened)) throw unexpected(notOpened)
  return opened
}

const reserved = {
  code: 'reserved_payload',
  description: 'payload must not start with {"version": because messages of Countersign itself do.',
}

const notOpened = 'The request was opened with an answer that is not of the interface.'

/** The page on which a request is answered. */
export function pageOf({ authUrl }: Pick<App, 'authUrl'>, requestId: string): string {
  const page = new URL('/sign', authUrl)
  page.searchParams.set('requestId', requestId)
  return page.href
}

/**
 * Waits until the request is answered or has expired. Outlives restarts of the service and cuts of the network, until
 * some time after the request should have ended, and then throws why. A signature is verified here, over the text that
 * was asked for and by the key that was named then: throws `invalid_signature` for any other.
 */
export async function waitForSignature(app: App, asked: SigningRequest, waiting: Waiting): Promise<Outcome> {
  return outcomeOf(asked, await watch(app, asked, waiting))
}

type Watched = { requestId: string; expiresAt: string }

/** The status of a request once that is not pending any more. */
export async function watch(app: App, asked: Watched, waiting: Waiting): Promise<Ended> {
  const { signal, graceSeconds = 60 } = waiting
  const patience = beginPatience(asked.expiresAt, graceSeconds)
  for (;;) {
    signal?.throwIfAborted()
    const status = await readStatus(app, asked, signal).catch(asPassing)
    const failure = status instanceof CountersignError ? status : undefined
    if (!(status instanceof CountersignError) && isEnded(status)) {
      if (status.requestId !== asked.requestId) throw unexpected('The status is that of another request.')
      return status
    }
    await patience.rest(failure, signal)
  }
}

async function readStatus({ baseUrl, clientId }: App, { requestId }: Watched, signal?: AbortSignal) {
  const url = new URL(`/api/signing/request/${encodeURIComponent(requestId)}/status`, baseUrl)
  const query: Watching['query'] = { clientId, wait: String(limits.signingWaitSecondsMax) }
  url.search = new URLSearchParams(query).toString()
  const answer = await exchange(url, { patienceMilliseconds: statusPatienceMilliseconds, signal })
  if (!isStatus(answer)) throw unexpected('The status of the request is not of the interface.')
  return answer
}

/** A failure that may be gone the next time; throws any other. */
function asPassing(error: unknown): CountersignError {
  if (!(error instanceof CountersignError)) throw error
  const { code, status = 0 } = error
  if (code === 'no_answer' || status === 429 || status >= 500) return error
  throw error
}

/** How one goes on asking: at once after a long wait, slower and slower while there is no answer, and not for ever. */
function beginPatience(expiresAt: string, graceSeconds: number) {
  const untilExpiry = new Date(expiresAt).getTime() - Date.now() || 0
  const lifetime = Math.min(Math.max(0, untilExpiry), limits.signingLifetimeSecondsMax * 1000)
  const end = performance.now() + lifetime + graceSeconds * 1000
  let askedAt = performance.now()
  let failures = 0
  return {
    async rest(failure: CountersignError | undefined, signal: AbortSignal | undefined) {
      const now = performance.now()
      if (now >= end) throw failure ?? new CountersignError(stillPending)
      failures = failure ? failures + 1 : 0
      const wanted = failure ? backOffAfter(failures, failure) : restMilliseconds - (now - askedAt)
      await pause(Math.min(wanted, end - now), signal)
      askedAt = performance.now()
    },
  }
}

/** Spread, so that not all who were cut off come back at once. */
function backOffAfter(failures: number, { retryAfterSeconds = 0 }: CountersignError): number {
  const longest = Math.min(backOffMillisecondsMax, 250 * 2 ** failures)
  return Math.max(longest * (0.5 + Math.random() / 2), retryAfterSeconds * 1000)
}

const stillPending = {
  code: 'no_answer',
  description: 'The request should have ended, and the service says it has not.',
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abandon = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abandon)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', abandon, { once: true })
  })
}

/** What the service says, as far as it is to be believed. */
function outcomeOf(asked: SigningRequest, { status, publicKey, signature, resolvedAt }: Ended): Outcome {
  const { requestId, identityId, payload } = asked
  if (status === 'denied' || status === 'expired') return { status, requestId, identityId }
  const isSigned = signature !== undefined && publicKey === asked.publicKey
  if (!isSigned || !verifySignature({ payload, signature, publicKey })) throw new CountersignError(notSigned)
  return { status: 'signed', requestId, identityId, payload, signature, publicKey, resolvedAt: resolvedAt ?? '' }
}

const notSigned = {
  code: 'invalid_signature',
  description: 'The service says that the request is signed, but not this text by this key.',
}

/** An answer that the interface does not have. */
export function unexpected(description: string): CountersignError {
  return new CountersignError({ code: 'unexpected_answer', description })
}

function isEnded(status: Status): status is Ended {
  return status.status !== 'pending'
}

const always = ['requestId', 'expiresAt']
const sometimes = ['publicKey', 'signature', 'resolvedAt']
const statuses: unknown[] = ['pending', 'signed', 'denied', 'expired'] satisfies Status['status'][]

function isOpened(value: unknown): value is Opened {
  return isRecord(value) && hasTexts(value, always) && hasTextsOf(value, ['publicKey']) && isProgressOf(value)
}

function isStatus(value: unknown): value is Status {
  if (!isRecord(value) || !statuses.includes(value['status'])) return false
  if (!hasTexts(value, always) || !hasTextsOf(value, sometimes) || !isProgressOf(value)) return false
  const { signatures = [] } = value
  const texts = ['identityId', 'memberId', 'role', 'publicKey', 'signature', 'at']
  return Array.isArray(signatures) && signatures.every((each) => isRecord(each) && hasTexts(each, texts))
}

/** Whether it says how far an organization is, or of none. */
function isProgressOf({ organization = { id: '', approvalsNeeded: 0 } }: Record<string, unknown>): boolean {
  return isRecord(organization) && hasTexts(organization, ['id']) && Number.isInteger(organization['approvalsNeeded'])
}

function hasTexts(record: Record<string, unknown>, names: string[]): boolean {
  return names.every((name) => typeof record[name] === 'string')
}

/** The same of those names that are there. */
function hasTextsOf(record: Record<string, unknown>, names: string[]): boolean {
  return hasTexts(
    record,
    names.filter((name) => name in record),
  )
}
