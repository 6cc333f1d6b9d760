import { bufferToBase64URLString } from '@simplewebauthn/browser'
import { call } from '../api/call.ts'
import { readSiteSettings } from '../page-data.ts'

/**
 * Tells the user's password manager about their passkeys (WebAuthn Level 3 §5.1.10) if the browser supports it.
 * Failures are ignored, because nothing depends on it.
 */

/** Reports a passkey that is no longer valid, so that it is not offered again. */
export async function signalUnknownCredential(credentialId: string): Promise<void> {
  if (!('signalUnknownCredential' in PublicKeyCredential)) return
  const { relyingPartyId: rpId } = readSiteSettings()
  await PublicKeyCredential.signalUnknownCredential({ rpId, credentialId }).catch(reportError)
}

/**
 * Reports a passkey that did not sign in, but only if the server does not know it. A misconfigured server rejects every
 * passkey, and that must not make users lose theirs.
 */
export async function signalIfUnknown(credentialId: string): Promise<void> {
  if (!('signalUnknownCredential' in PublicKeyCredential)) return
  const { known } = await call('POST /api/auth/passkeys/known', { body: { credentialId } })
  if (!known) await signalUnknownCredential(credentialId)
}

/** Reports all valid passkeys of a user. The password manager stops offering any other one of theirs. */
export async function signalAllAcceptedCredentials(userId: string, credentialIds: string[]): Promise<void> {
  if (!('signalAllAcceptedCredentials' in PublicKeyCredential)) return
  const { relyingPartyId: rpId } = readSiteSettings()
  const accepted = { rpId, userId: userHandleOf(userId), allAcceptedCredentialIds: credentialIds }
  await PublicKeyCredential.signalAllAcceptedCredentials(accepted).catch(reportError)
}

/** Reports the user's current names, so that their passkeys are shown under these. */
export async function signalCurrentUserDetails(
  userId: string,
  { handle: name, displayName }: { handle: string; displayName: string },
): Promise<void> {
  if (!('signalCurrentUserDetails' in PublicKeyCredential)) return
  const { relyingPartyId: rpId } = readSiteSettings()
  const details = { rpId, userId: userHandleOf(userId), name, displayName }
  await PublicKeyCredential.signalCurrentUserDetails(details).catch(reportError)
}

/** Returns the user handle in passkeys (WebAuthn §5.4.3): the sixteen bytes of the user id. */
export function userHandleOf(userId: string): string {
  const pairs = userId.replaceAll('-', '').match(/../g) ?? []
  return bufferToBase64URLString(Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)).buffer)
}
