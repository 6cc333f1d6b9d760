/**
 * Everything that pages do with the master key. It is created and unlocked here, and only ciphertexts, signatures and
 * codes leave this module. Pages load it on demand, because it includes the cryptography.
 */
import { DecryptionError } from '@countersign/keys/envelope'
import {
  generateMasterKey,
  openTransferredMasterKey,
  unwrapMasterKey,
  type MasterKey,
} from '@countersign/keys/master-key'
import { deriveKeyFromPrf, type KeyEncryptionKey } from '@countersign/keys/prf'
import { deriveKeyFromRecoveryCode, generateRecoveryCode, deriveRecoveryAuth } from '@countersign/keys/recovery-code'
import { actMessage } from '@countersign/protocol/formats/acts/act'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import {
  type PresenceEvidence,
  approvalMessage,
  presenceDigestInput,
} from '@countersign/protocol/formats/signing/approval'
import type { JsonObject } from '@countersign/protocol/formats/signing/canonical-json'
import type { KeyWrap, NewKeyWrap, PasskeyWrap } from '@countersign/protocol/accounts/keys'
import type { RegistrationFinish } from '@countersign/protocol/accounts/passkeys'
import type { PrfOutput } from './passkey.ts'
import { checkKeys, sealFirstRecord } from './self-check/self-check.ts'
import { createSigningKey } from './signing-key.ts'

export {
  agreeAsApprover,
  agreeAsRequester,
  computeCommitment,
  generateEphemeralKeyPair,
  newNonce,
  TranscriptMismatchError,
} from '@countersign/keys/device-approval'
export { adoptIfUnproved } from './adoption.ts'
export { createSigningKey, replaceSigningKey } from './signing-key.ts'
export { DecryptionError } from '@countersign/keys/envelope'
export { generateOrganizationKey, unwrapOrganizationKey } from '@countersign/keys/organization-key'
export { generateMasterKey } from '@countersign/keys/master-key'
export { prfSalt } from '@countersign/keys/prf'
export { parseRecoveryCode, deriveRecoveryAuth } from '@countersign/keys/recovery-code'
export { remembersKeys } from './self-check/device-store.ts'
export { recordNewKey } from './self-check/self-check.ts'

/** The first keys of an account, encrypted for the server. */
export type AccountKeys = Required<Pick<RegistrationFinish, 'keyWraps' | 'signingKey' | 'encryptionKey' | 'selfRecord'>>
/** `log` is the name of the log of signing keys, for the proof of the first one. */
type Owner = { userId: string; identityId: string; credentialId: string; log: string | undefined }

/** Creates all keys of a new account, which its passkey unlocks. */
export async function createAccountKeys(
  { userId, identityId, credentialId, log }: Owner,
  prfOutput: PrfOutput,
): Promise<{ masterKey: MasterKey; keys: AccountKeys }> {
  const masterKey = generateMasterKey()
  const keyWraps: NewKeyWrap[] = [await wrapMasterKeyForPasskey(masterKey, { credentialId, prfOutput }, userId)]
  const signingKey = await createSigningKey(masterKey, identityId, log)
  const keys = {
    keyWraps,
    signingKey,
    encryptionKey: await masterKey.newEncryptionKey(identityId),
    selfRecord: await sealFirstRecord({ masterKey, userId }, identityId, signingKey.publicKey),
  }
  return { masterKey, keys }
}

/** Wraps the master key for a passkey. */
export async function wrapMasterKeyForPasskey(
  masterKey: MasterKey,
  { credentialId, prfOutput }: { credentialId: string; prfOutput: PrfOutput },
  userId: string,
): Promise<PasskeyWrap> {
  const ciphertext = await masterKey.wrap(await deriveKeyFromPrf(prfOutput), userId)
  return { kind: 'passkey_prf', credentialId, ciphertext }
}

/**
 * Unlocks the master key with the PRF output of a passkey, and checks the user's keys. Returns undefined if the passkey
 * has no key wrap.
 */
export async function unlockWithPasskey(
  keyWraps: KeyWrap[],
  { credentialId, prfOutput }: { credentialId: string; prfOutput: PrfOutput | undefined },
  userId: string,
): Promise<MasterKey | undefined> {
  const wrap = keyWraps.find(({ kind, credentialId: id }) => kind === 'passkey_prf' && id === credentialId)
  if (!wrap || !prfOutput) return undefined
  return checked(
    userId,
    await unwrapMasterKey(wrap.ciphertext, await deriveKeyFromPrf(prfOutput), userId).catch(nothingIfShut),
  )
}

/**
 * Unlocks the master key with the recovery code, and checks the user's keys. Returns undefined if it is not the current
 * code.
 */
export async function unlockWithRecoveryCode(
  keyWraps: KeyWrap[],
  code: string,
  userId: string,
): Promise<MasterKey | undefined> {
  const wrap = keyWraps.find(({ kind }) => kind === 'recovery_code')
  if (!wrap) return undefined
  return checked(
    userId,
    await unwrapMasterKey(wrap.ciphertext, await deriveKeyFromRecoveryCode(code), userId).catch(nothingIfShut),
  )
}

/** Opens the master key that another device has sent, and checks the user's keys. Throws `DecryptionError`. */
export async function unlockWithDevice(
  ciphertext: string,
  wrapping: KeyEncryptionKey,
  { approvalId, userId }: { approvalId: string; userId: string },
): Promise<MasterKey> {
  const masterKey = await openTransferredMasterKey(ciphertext, wrapping, approvalId)
  await checked(userId, masterKey)
  return masterKey
}

/**
 * Checks the keys of a user before a page gets their master key. This is the only place where pages unlock keys, so no
 * page signs or delivers anything unchecked.
 */
async function checked(userId: string, masterKey: MasterKey | undefined): Promise<MasterKey | undefined> {
  if (!masterKey) return undefined
  try {
    await checkKeys({ masterKey, userId })
    return masterKey
  } catch (error) {
    masterKey.forget()
    throw error
  }
}

/** The key pair of an identity as the server stores it. */
type SealedKey = { identityId: string; encryptedPrivateKey: string }

/** Signs the UTF-8 bytes of a text. Decrypts the private key for this one signature. Throws `DecryptionError`. */
export async function signText(masterKey: MasterKey, sealed: SealedKey, text: string): Promise<string> {
  const key = await masterKey.openSigningKey(sealed.identityId, sealed.encryptedPrivateKey)
  const signature = await crypto.subtle.sign('Ed25519', key, new TextEncoder().encode(text))
  return toBase64(new Uint8Array(signature))
}

type Approving = { text: string; statement: JsonObject; evidence: PresenceEvidence }

/**
 * Signs a text and the statement of its approval. Returns undefined if the public key is not that of the private key,
 * so that nothing is signed in the name of another key. Throws `DecryptionError`.
 */
export async function signApproval(
  masterKey: MasterKey,
  sealed: SealedKey & { publicKey: string },
  { text, statement, evidence }: Approving,
): Promise<{ signature: string; approval: string } | undefined> {
  const key = await masterKey.openSigningKey(sealed.identityId, sealed.encryptedPrivateKey)
  const message = new TextEncoder().encode(text)
  const signature = await crypto.subtle.sign('Ed25519', key, message)
  const own = await crypto.subtle.importKey('raw', fromCanonicalBase64(sealed.publicKey) ?? noBytes, 'Ed25519', false, [
    'verify',
  ])
  if (!(await crypto.subtle.verify('Ed25519', own, signature, message))) return undefined
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', presenceDigestInput(evidence)))
  const approval = await crypto.subtle.sign('Ed25519', key, approvalMessage(statement, digest))
  return { signature: toBase64(new Uint8Array(signature)), approval: toBase64(new Uint8Array(approval)) }
}

const noBytes = new Uint8Array()

type Acting = { statement: JsonObject; evidence: PresenceEvidence }

/**
 * Signs the statement of an act in an organization, base64. Returns undefined, and signs nothing, if the public key
 * that the service names is not that of the private key. Throws `DecryptionError`.
 */
export async function signAct(
  masterKey: MasterKey,
  sealed: SealedKey & { publicKey: string },
  { statement, evidence }: Acting,
): Promise<string | undefined> {
  if (!(await masterKey.ownsSigningKey(sealed.identityId, sealed))) return undefined
  const key = await masterKey.openSigningKey(sealed.identityId, sealed.encryptedPrivateKey)
  const presence = new Uint8Array(await crypto.subtle.digest('SHA-256', presenceDigestInput(evidence)))
  return toBase64(new Uint8Array(await crypto.subtle.sign('Ed25519', key, actMessage(statement, presence))))
}

function nothingIfShut(error: unknown): undefined {
  if (!(error instanceof DecryptionError)) throw error
}

/** Generates a new recovery code for an unlocked master key, with the request that activates it. */
export async function renewRecoveryCode(masterKey: MasterKey, userId: string) {
  const recoveryCode = generateRecoveryCode()
  const { ciphertext } = await wrapWithCode(masterKey, recoveryCode, userId)
  return { recoveryCode, replacement: { recoveryAuth: await deriveRecoveryAuth(recoveryCode), ciphertext } }
}

async function wrapWithCode(masterKey: MasterKey, code: string, userId: string) {
  return {
    kind: 'recovery_code' as const,
    ciphertext: await masterKey.wrap(await deriveKeyFromRecoveryCode(code), userId),
  }
}
