import {
  type ReceiptError,
  verifyOrganizationReceipt as readOrganization,
  verifyReceipt as read,
} from '@countersign/protocol/signing/receipt-verification'
import { CountersignError } from '../shared/error.ts'
import { exchange, exchangeText, isRecord } from '../shared/exchange.ts'
import { type KnownLog, admitCheckpoint, findTrustedKey, readKnownLog } from '../trust/log-head.ts'
import type { Approval, TrustedLog } from '../trust/trust-settings.ts'
import { requireLogKey, toLogKeys } from '../trust/trust.ts'
import { type App, unexpected } from './signing-request.ts'

/**
 * The parts of a receipt to store. The log keys are not among them: a sender of a forged receipt could add forged keys.
 */
export type ReceiptVerificationInput = {
  /** The receipt as returned by the service. */
  receipt: string
  /** The signed text. */
  payload: string
}

/** The log keys that you got from the service with `getLogKeys`. */
export type LogKeys = { keys: readonly unknown[]; origin?: string | undefined }

/** What a receipt must prove: the `text` alone (default), or also the `approval`, by this issuer. */
export type ReceiptRequirement = { require?: 'text' | 'approval' | undefined; issuer?: string | undefined }

/**
 * The inputs for verifying a receipt: the log keys, or the log as the file names it that `countersign trust init`
 * writes; and what it must prove. With `require: 'approval'` it must also prove for which request, app, role and time
 * the text was signed, at this `issuer` (your `authUrl`), with a passkey.
 */
export type Trusted = ReceiptRequirement &
  ({ logKeys: LogKeys; log?: undefined } | { log: TrustedLog; logKeys?: undefined })

type Service = Pick<App, 'baseUrl' | 'authUrl' | 'clientId' | 'trust'>

/** The request of the receipt: the result of `waitForSignature`. */
export type ReceiptQuery = Pick<ReceiptVerificationInput, 'payload'> & {
  requestId: string
  /** The expected user. If set, a receipt of any other user is rejected. */
  identityId?: string | undefined
  /** The log keys, if you have them. Otherwise they are those of `trust`, or are fetched from the service. */
  logKeys?: LogKeys | undefined
  /** What the receipt must prove: the `text` alone (default), or also its `approval`. */
  require?: ReceiptRequirement['require']
}

/** Property that a valid receipt does not prove. */
export type UnprovedProperty = 'unlinked_key' | 'no_possession' | 'no_approval'

/** User, app, time and key of the signature. */
export type SignedReceipt = {
  requestId: string
  clientId: string
  identityId: string
  handle: string | undefined
  payload: string
  signature: string
  publicKey: string
  keyVersion: number
  createdAt: string
  resolvedAt: string
  /** What the user approved, if the receipt proves it. */
  approval: Approval | undefined
  /**
   * What the receipt does not prove: `no_approval` if only the text was signed, `unlinked_key` if a key was replaced
   * without a signature of the key before it, `no_possession` if the holder of the key has not signed its log entry.
   * The pages of the service prove all three.
   */
  unproved: UnprovedProperty[]
}

const sentences = {
  malformed_receipt: 'Not a receipt.',
  unknown_service_key: 'The receipt is signed with an unknown log key.',
  invalid_service_signature: "The service's signature on the receipt is invalid.",
  payload_mismatch: 'The receipt is for another payload.',
  invalid_signature: "The user's signature does not verify for this payload.",
  insufficient_signatures: 'The receipt has fewer member signatures than required.',
  key_not_in_log: 'The transparency log does not contain the signing key named in the receipt.',
  invalid_key_history: 'The log entries of the signing key contradict each other.',
  key_not_in_force: 'The signing key was not in force at the time of the signature.',
  invalid_approval: 'The approval in the receipt is not for this request, text, role, key or issuer.',
  no_approval: 'The receipt proves that the text was signed, but contains no approval of the request.',
} satisfies Record<ReceiptError, string>

/**
 * Verifies a receipt offline and returns its content. The service must have signed it, the user must have signed this
 * text, and the transparency log must contain the user's key. Only `logKeys` are trusted; keys stored with the receipt
 * are ignored. Throws CountersignError with the problem.
 */
export function verifyReceipt(kept: ReceiptVerificationInput, trusted: Trusted): SignedReceipt {
  const { payload } = kept
  const reading = requireValid(read, kept, trusted)
  const { requestId, clientId, identityId, handle, signature } = reading.receipt
  const { publicKey, keyVersion, createdAt, resolvedAt } = reading.receipt
  const { approval } = reading.receipt
  return {
    ...{ requestId, clientId, identityId, handle, payload, signature, publicKey, keyVersion, createdAt, resolvedAt },
    approval,
    unproved: reading.unproved,
  }
}

/** Reads a receipt in one of its forms. Throws the code of its flaw. */
function requireValid<Valid extends object>(
  form: (receipt: string, expected: Parameters<typeof read>[1]) => Valid | { flaw: ReceiptError },
  { receipt, payload }: ReceiptVerificationInput,
  trusted: Trusted,
): Valid {
  // Unpaired surrogates have no bytes, so texts that differ only in them would be equal.
  if (!payload.isWellFormed()) throw refusal('payload_mismatch')
  const reading = form(receipt, { payload, ...requirementOf(trusted), keySet: keySetOf(trusted) })
  if ('flaw' in reading) throw refusal(reading.flaw)
  return reading
}

/** Callers in JavaScript without log keys get the error for an unknown log key, as before. */
function keySetOf(trusted: Trusted | undefined): LogKeys {
  return trusted?.log ? toLogKeys(requireLogKey(trusted.log)) : (trusted?.logKeys ?? { keys: [] })
}

/** An issuer is an origin, whatever slash its setting ends with. */
function requirementOf({ require, issuer }: Partial<Trusted> = {}): ReceiptRequirement {
  return { require, issuer: issuer === undefined ? undefined : new URL(issuer).origin }
}

const patienceMilliseconds = 15_000

/**
 * Fetches the receipt of a request and returns it with its text: the parts to store without `logKeys`. Throws
 * CountersignError if the service rejects the request, or the receipt is invalid or for another request. With `trust`,
 * its checkpoint must continue what was seen of the log: else `unknown_log`, `log_rolled_back` or `log_forked`.
 */
export async function getReceipt(
  app: Service,
  { requestId, identityId, payload, logKeys, require }: ReceiptQuery,
): Promise<ReceiptVerificationInput> {
  const { kept, known, ...trusted } = await fetchReceipt(app, { requestId, payload, logKeys })
  const { receipt } = requireValid(read, kept, { ...trusted, require, issuer: app.authUrl.origin })
  const isRequested = receipt.requestId === requestId && receipt.clientId === app.clientId
  if (!isRequested || receipt.identityId !== (identityId ?? receipt.identityId))
    throw unexpected('The receipt is for another request.')
  await requireKnownLog(app, known, receipt)
  return kept
}

/** Requires that the checkpoint of a receipt continues what an app with `trust` has seen of the log. */
async function requireKnownLog(
  { trust }: Service,
  known: KnownLog | undefined,
  { checkpoint }: { checkpoint: string },
): Promise<void> {
  if (trust && known) await admitCheckpoint(trust.log, known, checkpoint)
}

type FetchedReceipt = { logKeys: LogKeys; kept: ReceiptVerificationInput; known: KnownLog | undefined }

/** Fetches the receipt of a request and the log keys, without verification, after what was seen of the log was read. */
async function fetchReceipt(
  { baseUrl, clientId, trust }: Service,
  { requestId, payload, logKeys }: Omit<ReceiptQuery, 'identityId'>,
): Promise<FetchedReceipt> {
  const url = new URL(`/api/signing/request/${encodeURIComponent(requestId)}/receipt`, baseUrl)
  url.search = new URLSearchParams({ clientId }).toString()
  // Before the service is asked: what other processes store later may be newer than its answer.
  const known = trust && (await readKnownLog(trust.log))
  const [receipt, keys] = await Promise.all([
    exchangeText(url, { patienceMilliseconds }),
    logKeys ?? getLogKeys({ baseUrl, trust }),
  ])
  return { kept: { receipt, payload }, logKeys: keys, known }
}

/** Returns the trusted key, or fetches the current log keys of the service. Store them apart from receipts. */
export async function getLogKeys({ baseUrl, trust }: Pick<App, 'baseUrl' | 'trust'>): Promise<LogKeys> {
  if (trust) return toLogKeys(await findTrustedKey(trust.log))
  const answer = await exchange(new URL('/api/transparency/jwks', baseUrl), { patienceMilliseconds })
  if (!isRecord(answer) || !Array.isArray(answer['keys'])) throw unexpected('The response contains no log keys.')
  const { keys, origin } = answer
  return typeof origin === 'string' ? { keys, origin } : { keys }
}

/** Error codes of an invalid receipt. */
function refusal(code: keyof typeof sentences): CountersignError {
  return new CountersignError({ code, description: sentences[code] })
}

/** The request of the receipt: the result of `waitForOrganizationSignature`. */
export type OrganizationReceiptQuery = Pick<ReceiptVerificationInput, 'payload'> & {
  requestId: string
  /** The expected organization. A receipt of any other organization is rejected. */
  organizationId: string
  /** The log keys, if you have them. Otherwise they are those of `trust`, or are fetched from the service. */
  logKeys?: LogKeys | undefined
  /** What the receipt must prove: the `text` alone (default), or also the `approval` of each member. */
  require?: ReceiptRequirement['require']
}

/** Organization, members, app and time of the signature. */
export type SignedOrganizationReceipt = {
  requestId: string
  clientId: string
  organization: { id: string; name: string }
  approvalsNeeded: number
  /** `resetAt`: when an owner last ended a council of the organization without its consent. */
  council: { resetAt: string | null } | undefined
  payload: string
  signatures: {
    identityId: string
    memberId: string
    handle: string | undefined
    role: 'sign' | 'approve'
    signature: string
    publicKey: string
    keyVersion: number
    at: string
    /** Since when the council of the organization had the signer. */
    admittedAt: string | undefined
    approval: Approval | undefined
  }[]
  createdAt: string
  resolvedAt: string
  /** What the receipt does not prove of any of the signatures, as in `SignedReceipt`. */
  unproved: UnprovedProperty[]
}

/**
 * Verifies the receipt of an organization offline and returns its content. The service must have signed it, a member
 * must have signed this text with the required number of other approvers, and the transparency log must contain all
 * their keys. The service vouches for their membership and permissions. Only `logKeys` are trusted. Throws
 * CountersignError with the problem.
 */
export function verifyOrganizationReceipt(kept: ReceiptVerificationInput, trusted: Trusted): SignedOrganizationReceipt {
  const { payload } = kept
  const reading = requireValid(readOrganization, kept, trusted)
  const { requestId, clientId, organization, approvalsNeeded, createdAt, resolvedAt } = reading.receipt
  const signatures = reading.receipt.signatures.map(({ identityId, memberId, handle, role, ...signed }) => {
    const { signature, publicKey, keyVersion, at, admittedAt, approval } = signed
    return { identityId, memberId, handle, role, signature, publicKey, keyVersion, at, admittedAt, approval }
  })
  const { unproved } = reading
  const of = { requestId, clientId, organization, approvalsNeeded, council: reading.receipt.council }
  return { ...of, payload, signatures, createdAt, resolvedAt, unproved }
}

/**
 * Fetches the receipt of a request to an organization and returns it with its text, to be stored. Throws
 * CountersignError if the service rejects the request, or the receipt is invalid or for another request, and with
 * `trust` as `getReceipt`.
 */
export async function getOrganizationReceipt(
  app: Service,
  { organizationId, require, ...requested }: OrganizationReceiptQuery,
): Promise<ReceiptVerificationInput> {
  const { kept, known, ...trusted } = await fetchReceipt(app, requested)
  const { receipt } = requireValid(readOrganization, kept, { ...trusted, require, issuer: app.authUrl.origin })
  const { requestId, clientId, organization } = receipt
  const isRequested =
    requestId === requested.requestId && clientId === app.clientId && organization.id === organizationId
  if (!isRequested) throw unexpected('The receipt is for another request.')
  await requireKnownLog(app, known, receipt)
  return kept
}
