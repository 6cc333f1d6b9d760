import { bufferToBase64URLString } from '@simplewebauthn/browser'
import { call } from './call.ts'
import { readSite } from './view.ts'

/**
 * What a person's password manager is told of their passkeys (WebAuthn Level 3 §5.1.10), where the browser passes it
 * on. It is a courtesy: nothing fails with it.
 */

/** A passkey is of no use, so that it is not offered again. */
export async function forgetPasskey(credentialId: string): Promise<void> {
  if (!('signalUnknownCredential' in PublicKeyCredential)) return
  const { relyingPartyId: rpId } = readSite()
  await PublicKeyCredential.signalUnknownCredential({ rpId, credentialId }).catch(reportError)
}

/**
 * The same, for a passkey that did not sign in, if the server does not know it. That it did not sign in is no reason: a
 * server that is set up wrongly refuses everybody, and nobody should lose their passkey for it.
 */
export async function forgetIfUnknown(credentialId: string): Promise<void> {
  if (!('signalUnknownCredential' in PublicKeyCredential)) return
  const { known } = await call('POST /api/auth/passkeys/known', { body: { credentialId } })
  if (!known) await forgetPasskey(credentialId)
}

/** All passkeys that a person has here; any other of theirs is not offered again. */
export async function tellPasskeys(userId: string, credentialIds: string[]): Promise<void> {
  if (!('signalAllAcceptedCredentials' in PublicKeyCredential)) return
  const { relyingPartyId: rpId } = readSite()
  const accepted = { rpId, userId: userHandleOf(userId), allAcceptedCredentialIds: credentialIds }
  await PublicKeyCredential.signalAllAcceptedCredentials(accepted).catch(reportError)
}

/** How a person is called now, so that their passkeys are shown under the right name. */
export async function tellDetails(
  userId: string,
  { handle: name, displayName }: { handle: string; displayName: string },
): Promise<void> {
  if (!('signalCurrentUserDetails' in PublicKeyCredential)) return
  const { relyingPartyId: rpId } = readSite()
  const details = { rpId, userId: userHandleOf(userId), name, displayName }
  await PublicKeyCredential.signalCurrentUserDetails(details).catch(reportError)
}

/** The user handle that passkeys keep: the sixteen bytes of the user's id. */
export function userHandleOf(userId: string): string {
  const pairs = userId.replaceAll('-', '').match(/../g) ?? []
  return bufferToBase64URLString(Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)).buffer)
}
