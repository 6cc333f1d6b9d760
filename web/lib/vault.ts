/**
 * What the pages do with the master key: it is opened or made here, and only what may be sent or shown goes out. Loaded
 * when it is needed; it brings the cryptography along.
 */
import { CannotOpen } from '@countersign/keys/envelope'
import { newMasterKey, openMasterKey, type MasterKey } from '@countersign/keys/master-key'
import { keyFromPrf } from '@countersign/keys/prf'
import { keyFromRecoveryCode, newRecoveryCode, recoveryAuthOf } from '@countersign/keys/recovery-code'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { rotationMessage } from '@countersign/protocol/formats/signing/signing-key-rotation'
import type { KeyWrap, NewKeyWrap, PasskeyWrap } from '@countersign/protocol/accounts/keys'
import type { RegistrationFinish } from '@countersign/protocol/accounts/passkeys'
import type { PrfOutput } from './passkey.ts'

export {
  agreeAsAnswerer,
  agreeAsAsker,
  commitmentTo,
  newApprovalKey,
  newNonce,
  NotTheSame,
} from '@countersign/keys/device-approval'
export { CannotOpen } from '@countersign/keys/envelope'
export { openHandedOver } from '@countersign/keys/master-key'
export { newOrganizationKey, openKeyGrant } from '@countersign/keys/organization-key'
export { prfSalt } from '@countersign/keys/prf'
export { readRecoveryCode, recoveryAuthOf } from '@countersign/keys/recovery-code'

type Keys = Pick<RegistrationFinish, 'keyWraps' | 'signingKey' | 'encryptionKey' | 'recoveryAuth'>
type Owner = { userId: string; identityId: string; credentialId: string }

/** Makes all keys of a new account: what the server keeps of them, and the recovery code that it never sees. */
export async function makeKeys({ userId, identityId, credentialId }: Owner, prfOutput: PrfOutput | undefined) {
  const masterKey = newMasterKey()
  const recoveryCode = newRecoveryCode()
  const keyWraps: NewKeyWrap[] = [await wrapWithCode(masterKey, recoveryCode, userId)]
  if (prfOutput) keyWraps.push(await wrapForPasskey(masterKey, { credentialId, prfOutput }, userId))
  const keys: Keys = {
    keyWraps,
    signingKey: await masterKey.newSigningKey(identityId),
    encryptionKey: await masterKey.newEncryptionKey(identityId),
    recoveryAuth: await recoveryAuthOf(recoveryCode),
  }
  masterKey.forget()
  return { keys, recoveryCode }
}

/** The wrap by which a passkey opens the master key from now on. */
export async function wrapForPasskey(
  masterKey: MasterKey,
  { credentialId, prfOutput }: { credentialId: string; prfOutput: PrfOutput },
  userId: string,
): Promise<PasskeyWrap> {
  const ciphertext = await masterKey.wrap(await keyFromPrf(prfOutput), userId)
  return { kind: 'passkey_prf', credentialId, ciphertext }
}

/** Opens the master key with what a passkey gave; `undefined` where that passkey opens none of the wraps. */
export async function openWithPasskey(
  keyWraps: KeyWrap[],
  { credentialId, prfOutput }: { credentialId: string; prfOutput: PrfOutput | undefined },
  userId: string,
): Promise<MasterKey | undefined> {
  const wrap = keyWraps.find(({ kind, credentialId: id }) => kind === 'passkey_prf' && id === credentialId)
  if (!wrap || !prfOutput) return undefined
  return openMasterKey(wrap.ciphertext, await keyFromPrf(prfOutput), userId).catch(nothingIfShut)
}

/** Opens the master key with the recovery code; `undefined` where the code is not the one in force. */
export async function openWithCode(keyWraps: KeyWrap[], code: string, userId: string): Promise<MasterKey | undefined> {
  const wrap = keyWraps.find(({ kind }) => kind === 'recovery_code')
  if (!wrap) return undefined
  return openMasterKey(wrap.ciphertext, await keyFromRecoveryCode(code), userId).catch(nothingIfShut)
}

/** An identity's key pair as the server keeps it. */
type SealedKey = { identityId: string; encryptedPrivateKey: string }

/** Signs the UTF-8 bytes of a text as they are; the key is open for this one signature. Throws `CannotOpen`. */
export async function signText(masterKey: MasterKey, sealed: SealedKey, text: string): Promise<string> {
  const key = await masterKey.openSigningKey(sealed.identityId, sealed.encryptedPrivateKey)
  const signature = await crypto.subtle.sign('Ed25519', key, new TextEncoder().encode(text))
  return toBase64(new Uint8Array(signature))
}

function nothingIfShut(error: unknown): undefined {
  if (!(error instanceof CannotOpen)) throw error
}

/** A new recovery code for an open master key, and what the server must be told to put it in force. */
export async function renewRecoveryCode(masterKey: MasterKey, userId: string) {
  const recoveryCode = newRecoveryCode()
  const { ciphertext } = await wrapWithCode(masterKey, recoveryCode, userId)
  return { recoveryCode, replacement: { recoveryAuth: await recoveryAuthOf(recoveryCode), ciphertext } }
}

/** A new signing key in place of the present one, which signs that it gives way (interface §4.2). */
export async function replaceSigningKey(
  masterKey: MasterKey,
  { identityId, encryptedPrivateKey }: { identityId: string; encryptedPrivateKey: string },
) {
  const present = await masterKey.openSigningKey(identityId, encryptedPrivateKey)
  const next = await masterKey.newSigningKey(identityId)
  const message = new TextEncoder().encode(rotationMessage({ identityId, ...next }))
  const signature = await crypto.subtle.sign('Ed25519', present, message)
  return { ...next, rotationSignature: toBase64(new Uint8Array(signature)) }
}

async function wrapWithCode(masterKey: MasterKey, code: string, userId: string) {
  return { kind: 'recovery_code' as const, ciphertext: await masterKey.wrap(await keyFromRecoveryCode(code), userId) }
}
