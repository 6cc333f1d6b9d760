import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { isReservedPayload } from '@countersign/protocol/formats/messages/reserved-payload'
import { CountersignError } from '../shared/error.ts'
import { exchange, isRecord } from '../shared/exchange.ts'
import type { Operations } from '../shared/api-types.ts'
import { isApproval, requireApproval } from '../trust/approval-proof.ts'
import { notProved, proveKey } from '../trust/key-proof.ts'
import type { Approval, Trust } from '../trust/trust-settings.ts'
import { warnWithoutTrust } from '../trust/trust.ts'
import { verifySignature } from './signature.ts'

type Opening = Operations['POST /api/signing/request']
type Watching = Operations['GET /api/signing/request/{requestId}/status']
type Opened = Opening['answer']
type Status = Watching['answer']
type Ended = Status & { status: Exclude<Status['status'], 'pending'> }

/** The app, its Countersign instance, and what it verifies of that. */
export type App = { baseUrl: URL; authUrl: URL; clientId: string; clientSecret: string; trust: Trust | undefined }

export type NewSigningRequest = Omit<Opening['body'], 'clientId' | 'clientSecret' | 'organizationId' | 'identityId'> & {
  /** The user who should sign: the `sub` of an ID token. */
  identityId: string
}

/** A pending request. It can be stored as JSON, and awaited by another process. */
export type SigningRequest = {
  requestId: string
  identityId: string
  payload: string
  /** The only key whose signature is accepted. */
  publicKey: string
  /** Version of that key, if `trust` has proved it. */
  keyVersion?: number
  expiresAt: string
  /** The page on which the user signs. */
  signingUrl: string
}

export type WaitOptions = {
  signal?: AbortSignal | undefined
  /**
   * Time in seconds after the expiry in which the outcome can still be fetched, 60 by default: clocks differ, services
   * restart.
   */
  graceSeconds?: number | undefined
}

/** Outcome of a request. A signature in it has been verified. */
export type SigningOutcome =
  | {
      status: 'signed'
      requestId: string
      identityId: string
      payload: string
      signature: string
      publicKey: string
      resolvedAt: string
      /** What the user approved: request, app, time, and a passkey. Absent if they signed the text alone. */
      approval: Approval | undefined
      /** What the outcome does not prove: `no_approval` if the user signed the text alone. */
      unproved: 'no_approval'[]
    }
  | { status: 'denied'; requestId: string; identityId: string }
  | { status: 'expired'; requestId: string; identityId: string }

type Signed = Extract<SigningOutcome, { status: 'signed' }>

const openingPatienceMilliseconds = 15_000
/** Longer than the wait parameter of the request. */
const statusPatienceMilliseconds = (pageLimits.signingWaitSecondsMax + 15) * 1000
const restMilliseconds = 1000
const backOffMillisecondsMax = 8000

/**
 * Asks an identity to sign a text. With `trust`, the key of the identity is proved before the request exists, and the
 * request must be for that key: throws `key_not_proved` otherwise. Not retried automatically, because a request that
 * was lost on the way back would be created twice.
 */
export async function createSigningRequest(app: App, requested: NewSigningRequest): Promise<SigningRequest> {
  const { identityId, payload } = requested
  refuseReservedPayload(payload)
  const proved = app.trust ? await proveKey(app.trust, identityId) : warnWithoutTrust()
  const { requestId, publicKey, expiresAt } = await postSigningRequest(app, requested)
  if (publicKey === undefined) throw unexpected(notOpened)
  if (proved && proved.publicKey !== publicKey) throw notProved('The service created the request for another key.')
  const opened = { requestId, identityId, payload, publicKey, expiresAt, signingUrl: signingPageUrl(app, requestId) }
  return proved ? { ...opened, keyVersion: proved.keyVersion } : opened
}

/** Throws `reserved_payload` if a text could be a message that keys sign for Countersign itself. */
export function refuseReservedPayload(payload: string): void {
  if (isReservedPayload(payload)) throw new CountersignError(reserved)
}

/** Creates a request to an identity or an organization. */
export async function postSigningRequest(
  app: App,
  requested: Omit<Opening['body'], 'clientId' | 'clientSecret'>,
): Promise<Opened> {
  const { clientId, clientSecret, baseUrl } = app
  const json: Opening['body'] = { ...requested, clientId, clientSecret }
  const patience = { patienceMilliseconds: openingPatienceMilliseconds }
  const opened = await exchange(new URL('/api/signing/request', baseUrl), { json, ...patience })
  if (!isOpened(opened)) throw unexpected(notOpened)
  return opened
}

const reserved = {
  code: 'reserved_payload',
  description: 'payload must not start with {"version": because messages of Countersign itself start with it.',
}

const notOpened = 'The signing request endpoint returned an unexpected response.'

/** Returns the URL of the page on which a request is answered. */
export function signingPageUrl({ authUrl }: Pick<App, 'authUrl'>, requestId: string): string {
  const page = new URL('/sign', authUrl)
  page.searchParams.set('requestId', requestId)
  return page.href
}

/**
 * Waits until the request is answered or has expired. Survives restarts of the service and network failures until some
 * time after the expiry, and then throws the reason. Verifies the signature over the requested text with the key named
 * when the request was created: throws `invalid_signature` for any other, and `invalid_approval` for an approval of
 * anything but this request. With `trust`, throws `no_approval` without one.
 */
export async function waitForSignature(
  app: App,
  request: SigningRequest,
  waiting: WaitOptions,
): Promise<SigningOutcome> {
  const { trust } = app
  if (!trust) warnWithoutTrust()
  const outcome = toSigningOutcome(request, await pollStatus(app, request, waiting))
  if (outcome.status === 'signed') await requireApproved(app, request, outcome)
  return outcome
}

/** Verifies the approval of a request by the key that was proved when it was created, or else is proved now. */
async function requireApproved(
  app: App,
  { requestId, identityId, payload, publicKey, expiresAt, keyVersion }: SigningRequest,
  { approval, resolvedAt: answeredAt }: Pick<Signed, 'approval' | 'resolvedAt'>,
): Promise<void> {
  const { trust } = app
  const use = { publicKey, at: answeredAt, expiresAt }
  const provedVersion = keyVersion ?? (trust && (await proveKey(trust, identityId, use)).keyVersion)
  const request = { requestId, identityId, role: 'self', payload, expiresAt, answeredAt } as const
  requireApproval(app, approval, { ...request, publicKey, keyVersion: provedVersion })
}

type Watched = { requestId: string; expiresAt: string }

/** Returns the status of a request when it is no longer pending. */
export async function pollStatus(app: App, request: Watched, waiting: WaitOptions): Promise<Ended> {
  const { signal, graceSeconds = 60 } = waiting
  const patience = beginPatience(request.expiresAt, graceSeconds)
  for (;;) {
    signal?.throwIfAborted()
    const status = await readStatus(app, request, signal).catch(asPassing)
    const failure = status instanceof CountersignError ? status : undefined
    if (!(status instanceof CountersignError) && isEnded(status)) {
      if (status.requestId !== request.requestId) throw unexpected('The status is for another request.')
      return status
    }
    await patience.rest(failure, signal)
  }
}

async function readStatus({ baseUrl, clientId }: App, { requestId }: Watched, signal?: AbortSignal) {
  const url = new URL(`/api/signing/request/${encodeURIComponent(requestId)}/status`, baseUrl)
  const query: Watching['query'] = { clientId, wait: String(pageLimits.signingWaitSecondsMax) }
  url.search = new URLSearchParams(query).toString()
  const answer = await exchange(url, { patienceMilliseconds: statusPatienceMilliseconds, signal })
  if (!isStatus(answer)) throw unexpected('The status endpoint returned an unexpected response.')
  return answer
}

/** Handles a temporary failure; throws any other. */
function asPassing(error: unknown): CountersignError {
  if (!(error instanceof CountersignError)) throw error
  const { code, status = 0 } = error
  if (code === 'network_error' || status === 429 || status >= 500) return error
  throw error
}

/**
 * Returns the delay before the next request: none after a long wait, and a growing one after failures, up to a limit.
 */
function beginPatience(expiresAt: string, graceSeconds: number) {
  const untilExpiry = new Date(expiresAt).getTime() - Date.now() || 0
  const lifetime = Math.min(Math.max(0, untilExpiry), pageLimits.signingLifetimeSecondsMax * 1000)
  const end = performance.now() + lifetime + graceSeconds * 1000
  let requestedAt = performance.now()
  let failures = 0
  return {
    async rest(failure: CountersignError | undefined, signal: AbortSignal | undefined) {
      const now = performance.now()
      if (now >= end) throw failure ?? new CountersignError(stillPending)
      failures = failure ? failures + 1 : 0
      const requested = failure ? backOffAfter(failures, failure) : restMilliseconds - (now - requestedAt)
      await pause(Math.min(requested, end - now), signal)
      requestedAt = performance.now()
    },
  }
}

/** Random, so that disconnected clients do not all return at once. */
function backOffAfter(failures: number, { retryAfterSeconds = 0 }: CountersignError): number {
  const longest = Math.min(backOffMillisecondsMax, 250 * 2 ** failures)
  return Math.max(longest * (0.5 + Math.random() / 2), retryAfterSeconds * 1000)
}

const stillPending = {
  code: 'network_error',
  description: 'The signing request is still pending after its expiry time.',
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

/** Validates the status that the service reports. */
function toSigningOutcome(
  request: SigningRequest,
  { status, publicKey, signature, resolvedAt, approval }: Ended,
): SigningOutcome {
  const { requestId, identityId, payload } = request
  if (status === 'denied' || status === 'expired') return { status, requestId, identityId }
  const isSigned = signature !== undefined && publicKey === request.publicKey
  if (!isSigned || !verifySignature({ payload, signature, publicKey })) throw new CountersignError(notSigned)
  const signed = { requestId, identityId, payload, signature, publicKey, resolvedAt: resolvedAt ?? '' }
  return { status: 'signed', ...signed, approval, unproved: approval ? [] : ['no_approval'] }
}

const notSigned = {
  code: 'invalid_signature',
  description: 'The service reports a signature, but it does not verify for this payload and key.',
}

/** Returns the error for an unexpected response. */
export function unexpected(description: string): CountersignError {
  return new CountersignError({ code: 'unexpected_response', description })
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
  return hasApprovalOf(value) && Array.isArray(signatures) && signatures.every(isMemberSignature)
}

function isMemberSignature(value: unknown): boolean {
  const texts = ['identityId', 'memberId', 'role', 'publicKey', 'signature', 'at']
  return isRecord(value) && hasTexts(value, texts) && hasApprovalOf(value)
}

/** Checks that an approval is complete, or absent. */
function hasApprovalOf({ approval }: Record<string, unknown>): boolean {
  return approval === undefined || isApproval(approval)
}

/** Checks that the progress of an organization is complete, or absent. */
function isProgressOf({ organization = { id: '', approvalsNeeded: 0 } }: Record<string, unknown>): boolean {
  return isRecord(organization) && hasTexts(organization, ['id']) && Number.isInteger(organization['approvalsNeeded'])
}

function hasTexts(record: Record<string, unknown>, names: string[]): boolean {
  return names.every((name) => typeof record[name] === 'string')
}

/** Picks those of the named fields that are present. */
function hasTextsOf(record: Record<string, unknown>, names: string[]): boolean {
  return hasTexts(
    record,
    names.filter((name) => name in record),
  )
}
