import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { advanceDue } from '#accounts/recovery-links/completion.ts'
import type { Authenticator } from './authenticator.ts'
import type { Mailbox } from './mailbox.ts'
import { day, recover, send, signIn } from './recovery.ts'
import { keyProofsOf, newSigningPair, type SigningPair } from './signer.ts'
import type { Person, TestWorld } from './world.ts'

export const newCode = () => randomBytes(32).toString('base64url')
const newEncryptionKey = () =>
  generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64')

/** Stores an encryption key, wraps, a recovery code and a self-record for a user, like their first browser. */
export async function storeKeys({ api }: TestWorld, { headers, identityId, authenticator }: Person) {
  const put = async (method: 'PUT' | 'POST', url: string, payload: object) => {
    const answer = await api.inject({ method, url, headers, payload })
    if (answer.statusCode >= 300) throw new Error(`${url} answered ${answer.body}`)
  }
  const { credentialId } = authenticator
  const [publicKey, recoveryAuth] = [newEncryptionKey(), newCode()]
  await put('POST', `/api/encryption/keys/${identityId}`, { publicKey, encryptedPrivateKey: 'old.encryption.key' })
  await put('POST', '/api/account/key-wraps', { kind: 'passkey_prf', credentialId, ciphertext: 'old.passkey.wrap' })
  await put('PUT', '/api/account/recovery', { recoveryAuth, ciphertext: 'old.recovery.wrap' })
  await put('PUT', '/api/account/self-record', { sequence: 1, ciphertext: 'old.self.record' })
  return { publicKey, recoveryAuth }
}

/** Recovers an identity by a link, waits until its hold is over, and signs in with the new passkey. */
export async function recoverAndWait(world: TestWorld, mailbox: Mailbox, person: Person) {
  const { authenticator } = await recover(world, mailbox, person)
  world.pass(7 * day)
  await advanceDue(world.services)
  while (mailbox.count() > 0) await mailbox.take()
  const { headers } = await signIn(world, authenticator)
  return { ...person, authenticator, headers }
}

type Owner = Pick<Person, 'identityId' | 'headers'> & { authenticator: Authenticator }
type Parts = {
  pair?: SigningPair | undefined
  /** Key that signs the possession, and what it signs. */
  holder?: SigningPair
  event?: 'recovered' | 'rotated'
  /** Authenticator that answers, if it is not the one of the wrap. */
  by?: Pick<Authenticator, 'authenticate'>
  sequence?: number
  hasEncryptionKey?: boolean
}

/** Builds the request with which the page of a user resets the keys, and starts its ceremony. */
export async function resetOf(world: TestWorld, owner: Owner, parts: Parts = {}) {
  const { identityId, headers, authenticator } = owner
  const { pair = newSigningPair(), holder = pair, event = 'recovered', by = authenticator } = parts
  const { chain, keyVersion = 0 } = (await world.api.inject({ url: `/api/signing/keys/${identityId}`, headers })).json()
  const { previous } = chain
  const proved = keyProofsOf({ event, identityId, keyVersion: keyVersion + 1, previous, to: pair }, { holder })
  const { possession } = proved
  const signingKey = { publicKey: pair.publicKey, encryptedPrivateKey: 'new.signing.key', previous, possession }
  const encryptionKey = { publicKey: newEncryptionKey(), encryptedPrivateKey: 'new.encryption.key' }
  const { flowId, options } = (
    await send(world, '/api/auth/reauthenticate/start', { method: 'POST', headers, payload: {} })
  ).body
  return {
    ...{ flowId, credential: by.authenticate(options) },
    keyWrap: { kind: 'passkey_prf', credentialId: authenticator.credentialId, ciphertext: 'new.passkey.wrap' },
    recoveryCode: { recoveryAuth: newCode(), ciphertext: 'new.recovery.wrap' },
    selfRecord: { sequence: parts.sequence ?? 2, ciphertext: 'new.self.record' },
    identities: [
      {
        identityId,
        ...(previous !== null && { signingKey }),
        ...(parts.hasEncryptionKey !== false && { encryptionKey }),
      },
    ],
  }
}

/** Sends a reset. */
export const sendReset = (world: TestWorld, { headers }: Pick<Person, 'headers'>, payload: object) =>
  send(world, '/api/account/keys/reset', { method: 'POST', headers, payload })
