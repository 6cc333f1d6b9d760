import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import {
  identityDigest,
  keyLinkMessage,
  keyPossessionMessage,
  type ProvedKeyEvent,
} from '@countersign/protocol/formats/signing/key-event'
import { rotationMessage } from '@countersign/protocol/formats/messages/messages'
import { sha256 } from '#platform/crypto/secret.ts'
import type { Person, TestApp, TestWorld } from './world.ts'

/** Creates a key pair like a browser; signatures and the public key are in base64. */
export function newSigningPair() {
  return signingPairOf(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }))
}

/** Returns the key pair of a private key in PEM. */
export function signingPairOf(pem: string) {
  const privateKey = createPrivateKey(pem)
  return {
    pem,
    publicKey: rawBase64(createPublicKey(privateKey)),
    sign: (text: string | Uint8Array) => signBase64(text, privateKey),
    signBytes: (bytes: Uint8Array) => signBase64(bytes, privateKey),
  }
}
export type SigningPair = ReturnType<typeof newSigningPair>

function rawBase64(publicKey: KeyObject): string {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')
}

function signBase64(text: string | Uint8Array, privateKey: KeyObject): string {
  return sign(null, Buffer.from(text), privateKey).toString('base64')
}

/** Returns the same signature with S + L for S, which RFC 8032 §5.1.7 rejects. */
export function secondWayToWrite(signature: string): string {
  const bytes = Buffer.from(signature, 'base64')
  const scalar = BigInt(`0x${Buffer.from(bytes.subarray(32).toReversed()).toString('hex')}`)
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  const larger = Buffer.from((scalar + order).toString(16).padStart(64, '0'), 'hex')
  return Buffer.concat([bytes.subarray(0, 32), larger.toReversed()]).toString('base64')
}

/** Builds the body that rotates `from` to `to`. */
export function rotationOf(identityId: string, from: SigningPair, to: SigningPair, encryptedPrivateKey = 'a.b.c.d.e') {
  const { publicKey } = to
  const rotationSignature = from.sign(rotationMessage({ identityId, publicKey, encryptedPrivateKey }))
  return { publicKey, encryptedPrivateKey, rotationSignature }
}

type ProofInput = Pick<ProvedKeyEvent, 'event' | 'keyVersion' | 'previous'> & { identityId: string; to: SigningPair }

/** Signs the log entry of a key, like a browser: `to` its possession, and `from` the link. */
export function keyProofsOf(
  { identityId, to, ...fields }: ProofInput,
  { log = testLog, from, holder = to }: { log?: string; from?: SigningPair; holder?: SigningPair } = {},
) {
  const event = { ...fields, identity: identityDigest(sha256, identityId), publicKey: to.publicKey }
  const possession = holder.sign(keyPossessionMessage(log, event))
  return { possession, ...(from && { link: from.sign(keyLinkMessage(log, event)) }) }
}

/** Name of the log in tests. */
export const testLog = 'localhost:4400/transparency'

/** Creates a user whose identity has a signing key, with functions for signing over the API. */
export async function createSigner(world: TestWorld, handle?: string) {
  const person = await world.person(handle)
  const pair = newSigningPair()
  const { identityId, headers } = person
  const created = await world.api.inject({
    method: 'POST',
    url: `/api/signing/keys/${identityId}`,
    headers,
    payload: { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' },
  })
  if (created.statusCode !== 201) throw new Error(`signing key not created: ${created.body}`)
  return { ...person, pair, ...answersOf(world, person) }
}

/** Returns what a user does about their signing requests. */
export function answersOf({ api }: TestWorld, { headers, identityId }: Pick<Person, 'headers' | 'identityId'>) {
  const requests = '/api/signing/requests'
  return {
    listRequests: () => api.inject({ url: requests, headers }),
    readPending: () => api.inject({ url: '/api/signing/pending', headers }),
    readRequest: (requestId: string) => api.inject({ url: `${requests}/${requestId}`, headers }),
    sign: (requestId: string, signature: string) =>
      api.inject({ method: 'POST', url: `${requests}/${requestId}/sign`, headers, payload: { signature } }),
    approve: (requestId: string, signature: string) =>
      api.inject({ method: 'POST', url: `${requests}/${requestId}/approve`, headers, payload: { signature } }),
    deny: (requestId: string) => api.inject({ method: 'POST', url: `${requests}/${requestId}/deny`, headers }),
    rotate: (payload: object) =>
      api.inject({ method: 'PUT', url: `/api/signing/keys/${identityId}`, headers, payload }),
    readKey: () => api.inject({ url: `/api/signing/keys/${identityId}`, headers }),
    adopt: (payload: object) =>
      api.inject({ method: 'POST', url: `/api/signing/keys/${identityId}/adoption`, headers, payload }),
  }
}

/** Builds the requests of an app's server to the signing endpoints. */
export function signingRequesterOf({ api }: TestWorld, { credentials }: Pick<TestApp, 'credentials'>) {
  const { client_id: clientId, client_secret: clientSecret } = credentials
  return {
    clientId,
    request: (identityId: string, fields: object = {}) =>
      api.inject({
        method: 'POST',
        url: '/api/signing/request',
        payload: { clientId, clientSecret, identityId, payload: 'Pay 10 €', ...fields },
      }),
    requestOf: (organizationId: string, fields: object = {}) =>
      api.inject({
        method: 'POST',
        url: '/api/signing/request',
        payload: { clientId, clientSecret, organizationId, payload: 'Pay 10 €', ...fields },
      }),
    status: (requestId: string, query = '') =>
      api.inject({ url: `/api/signing/request/${requestId}/status?clientId=${clientId}${query}` }),
  }
}
