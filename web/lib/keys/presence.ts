import { fromCanonicalBase64Url } from '@countersign/protocol/formats/base64'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { AuthenticationResponse, Passkey } from '@countersign/protocol/accounts/passkeys'
import type { PresenceEvidence } from '@countersign/protocol/formats/signing/approval'
import { CeremonyError, confirmWithPasskey, type UsedPasskey } from './passkey.ts'
import { openersOf } from './unlock.ts'

/** Which passkeys a user may confirm with: those that also unlock their keys, or all. */
export type Candidates = 'those that unlock keys' | 'all'

/** A statement that was confirmed with a passkey: what proves it to the service, and what the signature contains. */
export type ConfirmedPresence = { credential: AuthenticationResponse; evidence: PresenceEvidence; used: UsedPasskey }

type Input = {
  rpId: string
  /** Base64url. */
  challenge: string
  candidates: Candidates
  passkeys: Passkey[]
  keyWraps: KeyWrap[]
  salt: BufferSource
}

/** Lets the user confirm with a passkey. With most passkeys, the same use unlocks their keys. Throws `CeremonyError`. */
export async function confirmPresence(input: Input): Promise<ConfirmedPresence> {
  const { rpId, challenge, candidates, passkeys, keyWraps, salt } = input
  const openers = candidates === 'all' ? [] : openersOf(keyWraps)
  const credentialIds = openers.length > 0 ? openers : passkeys.map(({ credentialId }) => credentialId)
  const { credential, used } = await confirmWithPasskey({ rpId, challenge, credentialIds }, salt)
  return { credential, used, evidence: evidenceOf(credential, passkeys) }
}

function evidenceOf({ id, response }: AuthenticationResponse, passkeys: Passkey[]): PresenceEvidence {
  const publicKey = bytesOf(passkeys.find(({ credentialId }) => credentialId === id)?.publicKey)
  const [authenticatorData, clientDataJson] = [bytesOf(response.authenticatorData), bytesOf(response.clientDataJSON)]
  const signature = bytesOf(response.signature)
  if (!publicKey || !authenticatorData || !clientDataJson || !signature) throw new CeremonyError('failed')
  return { publicKey, authenticatorData, clientDataJson, signature }
}

function bytesOf(base64Url: string | undefined) {
  return base64Url === undefined ? undefined : fromCanonicalBase64Url(base64Url)
}
