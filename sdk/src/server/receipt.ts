import {
  type ReceiptError,
  type UnprovedProperty,
  verifyOrganizationReceipt as readOrganization,
  verifyReceipt as read,
} from '@countersign/protocol/signing/receipt-verification'
import { CountersignError } from '../shared/error.ts'
import { exchange, exchangeText, isRecord } from '../shared/exchange.ts'
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

/** The inputs for verifying a receipt. */
export type Trusted = { logKeys: LogKeys }

/** The request of the receipt: the result of `waitForSignature`. */
export type ReceiptQuery = Pick<ReceiptVerificationInput, 'payload'> & {
  requestId: string
  /** The expected user. If set, a receipt of any other user is rejected. */
  identityId?: string | undefined
  /** The log keys, if you have them. Otherwise they are fetched from the service. */
  logKeys?: LogKeys | undefined
}

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
  /**
   * What the receipt does not prove: `unlinked_key` if a key was replaced without a signature of the key before it,
   * `no_possession` if the holder of the key has not signed its log entry. Keys that the pages of the service make have
   * both proofs.
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
} satisfies Record<ReceiptError, string>

/**
 * Verifies a receipt offline and returns its content. The service must have signed it, the user must have signed this
 * text, and the transparency log must contain the user's key. Only `logKeys` are trusted; keys stored with the receipt
 * are ignored. Throws CountersignError with the problem.
 */
export function verifyReceipt({ receipt, payload }: ReceiptVerificationInput, trusted: Trusted): SignedReceipt {
  // Unpaired surrogates have no bytes, so texts that differ only in them would be equal.
  if (!payload.isWellFormed()) throw refusal('payload_mismatch')
  const reading = read(receipt, { payload, keySet: keySetOf(trusted) })
  if ('flaw' in reading) throw refusal(reading.flaw)
  const { requestId, clientId, identityId, handle, signature } = reading.receipt
  const { publicKey, keyVersion, createdAt, resolvedAt } = reading.receipt
  const signed = { requestId, clientId, identityId, handle, payload, signature, publicKey, keyVersion }
  return { ...signed, createdAt, resolvedAt, unproved: reading.unproved }
}

/** Callers in JavaScript without log keys get the error for an unknown log key, as before. */
function keySetOf(trusted: Partial<Trusted> | undefined): LogKeys {
  return trusted?.logKeys ?? { keys: [] }
}

const patienceMilliseconds = 15_000

/**
 * Fetches the receipt of a request and returns it with its text: the parts to store without `logKeys`. Throws
 * CountersignError if the service rejects the request, or the receipt is invalid or for another request.
 */
export async function getReceipt(
  { baseUrl, clientId }: Pick<App, 'baseUrl' | 'clientId'>,
  { requestId, identityId, payload, logKeys }: ReceiptQuery,
): Promise<ReceiptVerificationInput> {
  const { kept, ...trusted } = await fetchReceipt({ baseUrl, clientId }, { requestId, payload, logKeys })
  const signed = verifyReceipt(kept, trusted)
  const isRequested = signed.requestId === requestId && signed.clientId === clientId
  if (!isRequested || signed.identityId !== (identityId ?? signed.identityId))
    throw unexpected('The receipt is for another request.')
  return kept
}

/** Fetches the receipt of a request and the log keys, without verification. */
async function fetchReceipt(
  { baseUrl, clientId }: Pick<App, 'baseUrl' | 'clientId'>,
  { requestId, payload, logKeys }: Omit<ReceiptQuery, 'identityId'>,
): Promise<Trusted & { kept: ReceiptVerificationInput }> {
  const url = new URL(`/api/signing/request/${encodeURIComponent(requestId)}/receipt`, baseUrl)
  url.search = new URLSearchParams({ clientId }).toString()
  const [receipt, keys] = await Promise.all([
    exchangeText(url, { patienceMilliseconds }),
    logKeys ?? getLogKeys({ baseUrl }),
  ])
  return { kept: { receipt, payload }, logKeys: keys }
}

/** Fetches the current log keys of the service. Store them apart from receipts. */
export async function getLogKeys({ baseUrl }: Pick<App, 'baseUrl'>): Promise<LogKeys> {
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
  /** The log keys, if you have them. Otherwise they are fetched from the service. */
  logKeys?: LogKeys | undefined
}

/** Organization, members, app and time of the signature. */
export type SignedOrganizationReceipt = {
  requestId: string
  clientId: string
  organization: { id: string; name: string }
  approvalsNeeded: number
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
  }[]
  createdAt: string
  resolvedAt: string
  /** What the receipt does not prove of any of the keys, as in `SignedReceipt`. */
  unproved: UnprovedProperty[]
}

/**
 * Verifies the receipt of an organization offline and returns its content. The service must have signed it, a member
 * must have signed this text with the required number of other approvers, and the transparency log must contain all
 * their keys. The service vouches for their membership and permissions. Only `logKeys` are trusted. Throws
 * CountersignError with the problem.
 */
export function verifyOrganizationReceipt(
  { receipt, payload }: ReceiptVerificationInput,
  trusted: Trusted,
): SignedOrganizationReceipt {
  // Unpaired surrogates have no bytes, so texts that differ only in them would be equal.
  if (!payload.isWellFormed()) throw refusal('payload_mismatch')
  const reading = readOrganization(receipt, { payload, keySet: keySetOf(trusted) })
  if ('flaw' in reading) throw refusal(reading.flaw)
  const { requestId, clientId, organization, approvalsNeeded, createdAt, resolvedAt } = reading.receipt
  const signatures = reading.receipt.signatures.map(({ identityId, memberId, handle, role, ...signed }) => {
    const { signature, publicKey, keyVersion, at } = signed
    return { identityId, memberId, handle, role, signature, publicKey, keyVersion, at }
  })
  const { unproved } = reading
  return { requestId, clientId, organization, approvalsNeeded, payload, signatures, createdAt, resolvedAt, unproved }
}

/**
 * Fetches the receipt of a request to an organization and returns it with its text, to be stored. Throws
 * CountersignError if the service rejects the request, or the receipt is invalid or for another request.
 */
export async function getOrganizationReceipt(
  app: Pick<App, 'baseUrl' | 'clientId'>,
  { organizationId, ...requested }: OrganizationReceiptQuery,
): Promise<ReceiptVerificationInput> {
  const { kept, ...trusted } = await fetchReceipt(app, requested)
  const { requestId, clientId, organization } = verifyOrganizationReceipt(kept, trusted)
  const isRequested =
    requestId === requested.requestId && clientId === app.clientId && organization.id === organizationId
  if (!isRequested) throw unexpected('The receipt is for another request.')
  return kept
}
