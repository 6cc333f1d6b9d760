import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  bufferToBase64URLString,
} from '@simplewebauthn/browser'
import { startAuthentication, startRegistration, WebAuthnAbortService } from '@simplewebauthn/browser'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/browser'
import type { Answer } from '@countersign/protocol/api'
import { limits } from '@countersign/protocol/formats/limits'
import type {
  AuthenticationResponse,
  CreationOptions,
  RegistrationResponse,
  RequestOptions,
} from '@countersign/protocol/accounts/webauthn'
import { call, Refused } from './call.ts'
import { forgetIfUnknown } from './passkey-signals.ts'

/** Somebody who has signed in, and what their passkey gave for their keys, where it was asked. */
export type SignedIn = Answer<'POST /api/auth/login/finish'> & { used: UsedPasskey }
export type UsedPasskey = { credentialId: string; prfOutput: PrfOutput | undefined }

/** What a passkey yields for the master key: 32 bytes that never leave this browser. */
export type PrfOutput = Uint8Array<ArrayBuffer>

/** Why a ceremony came to nothing; the first two are ordinary. */
export type CeremonyEnd =
  | 'declined'
  | 'superseded'
  | 'unsupported'
  | 'already registered'
  | 'unfit'
  | 'wrong host'
  | 'failed'

export class CeremonyFailed extends Error {
  readonly end: CeremonyEnd

  constructor(end: CeremonyEnd, cause?: unknown) {
    super(`The passkey ceremony ended: ${end}`, { cause })
    this.end = end
  }
}

/**
 * What a passkey is used for: with a salt it is also asked for what opens keys, with the reference of an authorization
 * request its use counts for that request.
 */
export type PasskeyUse = { salt?: BufferSource | undefined; requestUri?: string | undefined }

/** The browser's own dialog. */
export async function signInWithPasskey(handle: string, { salt, requestUri }: PasskeyUse = {}): Promise<SignedIn> {
  const body = { ...(handle && { handle }), ...(requestUri !== undefined && { requestUri }) }
  const { flowId, options } = await call('POST /api/auth/login/start', { body })
  return finishSignIn(flowId, await authenticate(options, { salt }))
}

async function finishSignIn(flowId: string, { credential, used }: Assertion): Promise<SignedIn> {
  try {
    return { ...(await call('POST /api/auth/login/finish', { body: { flowId, credential } })), used }
  } catch (error) {
    if (error instanceof Refused && error.code === 'invalid_credential')
      await forgetIfUnknown(credential.id).catch(reportError)
    throw error
  }
}

/**
 * Offers passkeys in the autofill of the page's input, for as long as the page is open. Answers `undefined` where the
 * browser can't, the person chose none, or another ceremony took over.
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
    if (error instanceof CeremonyFailed) return undefined
    throw error
  } finally {
    renewal.forget()
  }
}

/** An offer that waits in an input outlives its flow, so it is taken back and made again in time. */
function renewBeforeExpiry() {
  let due = false
  const timer = setTimeout(
    () => {
      due = true
      WebAuthnAbortService.cancelCeremony()
    },
    (limits.flowLifetimeSeconds - 20) * 1000,
  )
  return { isDue: () => due, forget: () => clearTimeout(timer) }
}

/** A passkey that was just made, and whether it can open keys. */
export type NewPasskey = { credential: RegistrationResponse; prfEnabled: boolean; prfOutput: PrfOutput | undefined }

/** Makes a passkey. Some authenticators evaluate the PRF at once, others only say that they could. */
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

/** Asks one passkey for its PRF output, with a challenge that nobody sees. `undefined` where it has none to give. */
export async function evaluatePrf(
  rpId: string,
  credentialId: string,
  salt: BufferSource,
): Promise<PrfOutput | undefined> {
  const { prfOutput } = await evaluatePrfOfOne(rpId, [credentialId], salt)
  return prfOutput
}

/** The same of whichever of these passkeys the person has at hand. */
export async function evaluatePrfOfOne(rpId: string, credentialIds: string[], salt: BufferSource) {
  const challenge = bufferToBase64URLString(crypto.getRandomValues(new Uint8Array(32)).buffer)
  const allowCredentials = credentialIds.map(toDescriptor)
  const extensions = { prf: { eval: { first: salt } } }
  const optionsJSON = { challenge, rpId, allowCredentials, userVerification: 'required' as const, extensions }
  const answer = await ceremony(() => startAuthentication({ optionsJSON }))
  return { credentialId: answer.id, prfOutput: bytesOf(answer.clientExtensionResults.prf?.results?.first) }
}

function toDescriptor(id: string) {
  return { id, type: 'public-key' as const }
}

/**
 * Does what the server allows only to those who have just proved that they are there; where that was too long ago, they
 * prove it again, for an authorization request if its reference is given.
 */
export async function withFreshProof<T>(work: () => Promise<T>, requestUri?: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'reauthentication_required')) throw error
  }
  await reauthenticate(undefined, { requestUri })
  return work()
}

/** The passkeys to offer, where not all, and the authorization request that the proof of presence belongs to. */
type Proving = { credentialIds?: string[]; requestUri?: string | undefined }

/** Proves the person's presence again, and takes the PRF output of the passkey that they used, if it has one. */
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

type How = { salt: BufferSource | undefined; useBrowserAutofill?: boolean }
type Assertion = Awaited<ReturnType<typeof authenticate>>

/** The PRF that the options offer is left alone where no key is needed. What it gives is not part of the credential. */
async function authenticate(options: RequestOptions, { salt, ...how }: How) {
  const optionsJSON = { ...options, extensions: salt ? { prf: { eval: { first: salt } } } : {} }
  const answer = await ceremony(() => startAuthentication({ optionsJSON, ...how }))
  const prfOutput = bytesOf(answer.clientExtensionResults.prf?.results?.first)
  return { credential: assertionOf(answer), used: { credentialId: answer.id, prfOutput } }
}

async function ceremony<T>(work: () => Promise<T>): Promise<T> {
  if (!browserSupportsWebAuthn()) throw new CeremonyFailed('unsupported')
  try {
    return await work()
  } catch (error) {
    throw new CeremonyFailed((error instanceof Error && ends[error.name]) || 'failed', error)
  }
}

/** The names of the exceptions of WebAuthn Level 3 §5.1.3 and §5.1.4. */
const ends: Record<string, CeremonyEnd> = {
  NotAllowedError: 'declined',
  AbortError: 'superseded',
  InvalidStateError: 'already registered',
  ConstraintError: 'unfit',
  NotSupportedError: 'unfit',
  SecurityError: 'wrong host',
}

/** What the server may know of a new passkey: everything but what the PRF gave. */
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

/** Whether a passkey must be asked a second time: it has the PRF, but did not evaluate it when it was made. */
export function needsSecondTouch({ prfEnabled, prfOutput }: NewPasskey): boolean {
  return prfEnabled && prfOutput === undefined
}
