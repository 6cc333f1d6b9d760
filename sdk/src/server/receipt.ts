import { verifyReceipt as read, type ReceiptFlaw } from '@countersign/protocol/signing/receipt-verification'
import { CountersignError } from '../shared/error.ts'
import { exchange, exchangeText, isRecord } from '../shared/exchange.ts'
import { unexpected, type App } from './signing-request.ts'

/** What to keep of a receipt: not the keys of the log, for who hands you a receipt could hand you theirs. */
export type KeptReceipt = {
  /** The receipt, as the service gave it. */
  receipt: string
  /** The text that was signed. */
  payload: string
}

/** The keys of the log, as you have them from the service: what `readLogKeys` answered. */
export type LogKeys = { keys: readonly unknown[]; origin?: string | undefined }

/** By what a receipt is verified. */
export type Trusted = { logKeys: LogKeys }

/** Which receipt is wanted: what `waitForSignature` answered says it. */
export type WantedReceipt = Pick<KeptReceipt, 'payload'> & {
  requestId: string
  /** Who should have signed. Where it is here, a receipt of anybody else is none. */
  identityId?: string | undefined
  /** The keys of the log, where you have them. Otherwise the service is asked for them, too. */
  logKeys?: LogKeys | undefined
}

/** Who signed, for whom, when and with which key. */
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
}

const sentences = {
  malformed_receipt: 'This is no receipt.',
  unknown_service_key: 'It is signed by a key that is not among those given.',
  invalid_service_signature: 'The service has not signed it, or it was altered since.',
  other_payload: 'It is for another text.',
  invalid_signature: 'The person has not signed this text.',
  too_few_signatures: 'Fewer members of the organization have signed and approved it than it takes.',
  key_not_in_log: 'The log of signing keys does not tell the key of the person as the receipt has it.',
} satisfies Record<ReceiptFlaw, string>

/**
 * What a receipt says, where all of it holds together: the service has signed it, the person has signed this text, and
 * the log of signing keys tells their key. Asks nobody, and believes no keys but `logKeys`: any that were kept with the
 * receipt are left aside. Throws CountersignError with what is wrong otherwise.
 */
export function verifyReceipt({ receipt, payload }: KeptReceipt, trusted: Trusted): SignedReceipt {
  // Half a character has no bytes: texts that differ in such halves alone would be one.
  if (!payload.isWellFormed()) throw refusal('other_payload')
  const reading = read(receipt, { payload, keySet: keySetOf(trusted) })
  if ('flaw' in reading) throw refusal(reading.flaw)
  const { requestId, clientId, identityId, handle, signature } = reading.receipt
  const { publicKey, keyVersion, createdAt, resolvedAt } = reading.receipt
  return { requestId, clientId, identityId, handle, payload, signature, publicKey, keyVersion, createdAt, resolvedAt }
}

/** Callers in JavaScript that name no keys, as before, get the refusal of a receipt by unknown ones. */
export function keySetOf(trusted: Partial<Trusted> | undefined): LogKeys {
  return trusted?.logKeys ?? { keys: [] }
}

const patienceMilliseconds = 15_000

/**
 * Asks for the receipt of a request, and answers it with its text: what to keep, apart from `logKeys`. Throws
 * CountersignError where the service refuses it, where it does not hold together, or where it is another one.
 */
export async function readReceipt(
  { baseUrl, clientId }: Pick<App, 'baseUrl' | 'clientId'>,
  { requestId, identityId, payload, logKeys }: WantedReceipt,
): Promise<KeptReceipt> {
  const { kept, ...trusted } = await fetchReceipt({ baseUrl, clientId }, { requestId, payload, logKeys })
  const signed = verifyReceipt(kept, trusted)
  const isWanted = signed.requestId === requestId && signed.clientId === clientId
  if (!isWanted || signed.identityId !== (identityId ?? signed.identityId)) throw unexpected('The receipt is another.')
  return kept
}

/** The receipt of a request as the service gives it, with the keys of the log: nothing of it is verified yet. */
export async function fetchReceipt(
  { baseUrl, clientId }: Pick<App, 'baseUrl' | 'clientId'>,
  { requestId, payload, logKeys }: Omit<WantedReceipt, 'identityId'>,
): Promise<Trusted & { kept: KeptReceipt }> {
  const url = new URL(`/api/signing/request/${encodeURIComponent(requestId)}/receipt`, baseUrl)
  url.search = new URLSearchParams({ clientId }).toString()
  const [receipt, keys] = await Promise.all([
    exchangeText(url, { patienceMilliseconds }),
    logKeys ?? readLogKeys({ baseUrl }),
  ])
  return { kept: { receipt, payload }, logKeys: keys }
}

/** Asks for the keys of the log as the service publishes them now. Keep them where no receipt comes from. */
export async function readLogKeys({ baseUrl }: Pick<App, 'baseUrl'>): Promise<LogKeys> {
  const answer = await exchange(new URL('/api/transparency/jwks', baseUrl), { patienceMilliseconds })
  if (!isRecord(answer) || !Array.isArray(answer['keys'])) throw unexpected('The keys of the log are none.')
  const { keys, origin } = answer
  return typeof origin === 'string' ? { keys, origin } : { keys }
}

/** Why a receipt proves nothing. */
export function refusal(code: keyof typeof sentences): CountersignError {
  return new CountersignError({ code, description: sentences[code] })
}
