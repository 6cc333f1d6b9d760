import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  bufferToBase64URLString,
} from '@simplewebauthn/browser'
import { startAuthentication, startRegistration, WebAuthnAbortService } from '@simplewebauthn/browser'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/browser'
import type { ResponseOf } from '@countersign/protocol/api'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import type {
  AuthenticationResponse,
  CreationOptions,
  RegistrationResponse,
  RequestOptions,
} from '@countersign/protocol/accounts/passkeys'
import { call, ApiError } from '../api/call.ts'
import type { KnownUser } from '../session/known-users.ts'
import { signalIfUnknown } from './passkey-signals.ts'

/** A user who has signed in, with the PRF output of their passkey if it was requested. */
export type SignedIn = ResponseOf<'POST /api/auth/login/finish'> & { used: UsedPasskey }
export type UsedPasskey = { credentialId: string; prfOutput: PrfOutput | undefined }

/** The PRF output from which the key that wraps the master key derives: 32 bytes that never leave this browser. */
export type PrfOutput = Uint8Array<ArrayBuffer>

/** The reason why a ceremony failed. The first two are ordinary. */
export type CeremonyErrorKind =
  | 'declined'
  | 'superseded'
  | 'unsupported'
  | 'already registered'
  | 'unfit'
  | 'wrong host'
  | 'failed'

export class CeremonyError extends Error {
  readonly end: CeremonyErrorKind

  constructor(end: CeremonyErrorKind, cause?: unknown) {
    super(`The passkey ceremony ended: ${end}`, { cause })
    this.end = end
  }
}

/**
 * Options of an assertion: with a salt, the passkey also evaluates its PRF. With a `requestUri`, the assertion counts
 * for that authorization request.
 */
export type PasskeyUse = { salt?: BufferSource | undefined; requestUri?: string | undefined }

/**
 * Signs in with a passkey, in the browser's own dialog. With a known user, the dialog asks for their passkey alone.
 * Authenticators may then leave out the user handle (WebAuthn §6.3.3).
 */
export async function signInWithPasskey(
  handle: string,
  { salt, requestUri, known }: PasskeyUse & { known?: Pick<KnownUser, 'userId' | 'credentialId'> } = {},
): Promise<SignedIn> {
  const body = { ...(handle && { handle }), ...(requestUri !== undefined && { requestUri }) }
  const { flowId, options } = await call('POST /api/auth/login/start', { body })
  const chosen = known && { allowCredentials: [toDescriptor(known.credentialId)] }
  return finishSignIn(flowId, await authenticate({ ...options, ...chosen }, { salt }), known)
}

/** Returns whether this browser can use passkeys at all. */
export { browserSupportsWebAuthn as supportsPasskeys }

async function finishSignIn(
  flowId: string,
  { credential, used }: Assertion,
  known?: Pick<KnownUser, 'userId'>,
): Promise<SignedIn> {
  const body = { flowId, credential, ...(known && { userId: known.userId }) }
  try {
    return { ...(await call('POST /api/auth/login/finish', { body })), used }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_credential')
      await signalIfUnknown(credential.id).catch(reportError)
    throw error
  }
}

/**
 * Offers passkeys in the autofill of the page's input while the page is open. Returns undefined if the browser does not
 * support that, the user chose none, or another ceremony started.
 */
export async function signInByAutofill({ salt, requestUri }: PasskeyUse = {}): Promise<SignedIn | undefined> {
  if (!browserSupportsWebAuthn() || !(await browserSupportsWebAuthnAutofill())) return undefined
  const body = requestUri === undefined ? {} : { requestUri }
  const { flowId, options } = await call('POST /api/auth/login/start', { body })
  const renewal = renewBeforeExpiry()
  try {
    return await finishSignIn(flowId, await authenticate(options, { salt, useBrowserAutofill: true }))
  } catch (error) {
    if (renewal.isDue()) return await signInByAutofill({ salt, requestUri })
    if (error instanceof CeremonyError) return undefined
    throw error
  } finally {
    renewal.forget()
  }
}

/** Aborts the autofill ceremony shortly before its flow expires, so that a new one can start. */
function renewBeforeExpiry() {
  let due = false
  const timer = setTimeout(
    () => {
      due = true
      WebAuthnAbortService.cancelCeremony()
    },
    (pageLimits.flowLifetimeSeconds - 20) * 1000,
  )
  return { isDue: () => due, forget: () => clearTimeout(timer) }
}

/** A passkey that was just created, and whether it can unlock keys. */
export type NewPasskey = { credential: RegistrationResponse; prfEnabled: boolean; prfOutput: PrfOutput | undefined }

/**
 * Creates a passkey. Some authenticators evaluate the PRF during registration, others only report that they support it.
 */
export async function createPasskey(options: CreationOptions, salt: BufferSource): Promise<NewPasskey> {
  const optionsJSON = { ...options, extensions: { credProps: true, prf: { eval: { first: salt } } } }
  const made = await ceremony(() => startRegistration({ optionsJSON }))
  const { prf } = made.clientExtensionResults
  return {
    credential: registrationOf(made),
    prfEnabled: prf?.enabled === true,
    prfOutput: bytesOf(prf?.results?.first),
  }
}

/** Evaluates the PRF of one passkey with a local challenge. Returns undefined if the passkey has no PRF. */
export async function evaluatePrf(
  rpId: string,
  credentialId: string,
  salt: BufferSource,
): Promise<PrfOutput | undefined> {
  const challenge = bufferToBase64URLString(crypto.getRandomValues(new Uint8Array(32)).buffer)
  const { used } = await confirmWithPasskey({ rpId, challenge, credentialIds: [credentialId] }, salt)
  return used.prfOutput
}

function toDescriptor(id: string) {
  return { id, type: 'public-key' as const }
}

/**
 * Calls an endpoint that requires recent authentication. If the last authentication is too old, the user
 * re-authenticates first, for an authorization request if its reference is given.
 */
export async function withRecentAuthentication<T>(work: () => Promise<T>, requestUri?: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'reauthentication_required')) throw error
  }
  await reauthenticate(undefined, { requestUri })
  return work()
}

/** The passkeys to offer, all by default, and the authorization request that the assertion is for. */
type Proving = { credentialIds?: string[]; requestUri?: string | undefined }

/** Re-authenticates the user, and returns the PRF output of the passkey that they used, if it has one. */
export async function reauthenticate(
  salt?: BufferSource,
  { credentialIds = [], requestUri }: Proving = {},
): Promise<UsedPasskey> {
  const body = requestUri === undefined ? {} : { requestUri }
  const { flowId, options } = await call('POST /api/auth/reauthenticate/start', { body })
  const allowCredentials = credentialIds.map(toDescriptor)
  const { credential, used } = await authenticate({ ...options, allowCredentials }, { salt })
  await call('POST /api/auth/reauthenticate/finish', { body: { flowId, credential } })
  return used
}

type Confirmation = { rpId: string; challenge: string; credentialIds: string[] }

/**
 * Uses one of these passkeys for a challenge that the page has computed, and evaluates its PRF. The same assertion
 * proves to the server that the user is present.
 */
export function confirmWithPasskey({ rpId, challenge, credentialIds }: Confirmation, salt: BufferSource) {
  const allowCredentials = credentialIds.map(toDescriptor)
  return authenticate({ rpId, challenge, allowCredentials, userVerification: 'required' }, { salt })
}

type How = { salt: BufferSource | undefined; useBrowserAutofill?: boolean }
type AssertionOptions = Pick<RequestOptions, 'rpId' | 'challenge' | 'allowCredentials' | 'userVerification'>
type Assertion = Awaited<ReturnType<typeof authenticate>>

/** Evaluates the PRF only if a key is needed. Its output is not part of the credential that is sent. */
async function authenticate(options: AssertionOptions, { salt, ...how }: How) {
  const optionsJSON = { ...options, extensions: salt ? { prf: { eval: { first: salt } } } : {} }
  const answer = await ceremony(() => startAuthentication({ optionsJSON, ...how }))
  const prfOutput = bytesOf(answer.clientExtensionResults.prf?.results?.first)
  return { credential: assertionOf(answer), used: { credentialId: answer.id, prfOutput } }
}

async function ceremony<T>(work: () => Promise<T>): Promise<T> {
  if (!browserSupportsWebAuthn()) throw new CeremonyError('unsupported')
  try {
    return await work()
  } catch (error) {
    throw new CeremonyError((error instanceof Error && ends[error.name]) || 'failed', error)
  }
}

/** Maps the exceptions of WebAuthn Level 3 §5.1.3 and §5.1.4 by their names. */
const ends: Record<string, CeremonyErrorKind> = {
  NotAllowedError: 'declined',
  AbortError: 'superseded',
  InvalidStateError: 'already registered',
  ConstraintError: 'unfit',
  NotSupportedError: 'unfit',
  SecurityError: 'wrong host',
}

/** Converts a new passkey to what the server receives: everything except the PRF output. */
function registrationOf({
  id,
  rawId,
  type,
  response,
  authenticatorAttachment,
  clientExtensionResults,
}: RegistrationResponseJSON): RegistrationResponse {
  const { clientDataJSON, attestationObject, transports } = response
  const { credProps, prf } = clientExtensionResults
  return {
    id,
    rawId,
    type,
    response: { clientDataJSON, attestationObject, ...(transports && { transports }) },
    ...(authenticatorAttachment && { authenticatorAttachment }),
    clientExtensionResults: { ...(credProps && { credProps }), ...(prf && { prf: { enabled: prf.enabled === true } }) },
  }
}

function assertionOf({ id, rawId, type, response }: AuthenticationResponseJSON): AuthenticationResponse {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  return {
    id,
    rawId,
    type,
    response: { clientDataJSON, authenticatorData, signature, ...(userHandle !== undefined && { userHandle }) },
    clientExtensionResults: {},
  }
}

function bytesOf(source: unknown): PrfOutput | undefined {
  if (source instanceof ArrayBuffer) return new Uint8Array(source)
  if (!ArrayBuffer.isView(source)) return undefined
  return Uint8Array.from(new Uint8Array(source.buffer, source.byteOffset, source.byteLength))
}

/**
 * Returns whether a second assertion is needed: the passkey supports the PRF, but did not evaluate it during
 * registration.
 */
export function needsPrfAssertion({ prfEnabled, prfOutput }: NewPasskey): boolean {
  return prfEnabled && prfOutput === undefined
}
