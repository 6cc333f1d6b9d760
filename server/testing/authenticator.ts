import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type KeyObject,
} from 'node:crypto'
import type {
  AuthenticationResponse,
  CreationOptions,
  RegistrationResponse,
  RequestOptions,
} from '@countersign/protocol/accounts/passkeys'
import type { Attesting, Statement } from './attestation-statements.ts'

/** Deviations in a ceremony that a test expects to be rejected. */
export type AuthenticatorOverrides = {
  type?: string
  challenge?: string
  origin?: string
  rpId?: string
  crossOrigin?: boolean
  topOrigin?: string
  clientDataExtras?: Record<string, unknown>
  byteOrderMark?: boolean
  userPresent?: boolean
  userVerified?: boolean
  backupEligible?: boolean
  backedUp?: boolean
  signCount?: number
  userHandle?: string | null
  credentialId?: Buffer
  /** Credential ID inside the attested data, if it differs from that of the response. */
  attestedId?: Buffer
  signature?: (signature: Buffer) => Buffer
  algorithm?: number
  /** COSE key instead of the authenticator's own. */
  publicKey?: Buffer
  /** Self attestation (WebAuthn §6.5.4), which a browser keeps although none was requested. */
  selfAttested?: boolean
  aaguid?: Buffer
  /** Attestation statement of another format. */
  attestation?: (made: Attesting) => Statement
  clientData?: (clientData: Buffer) => Buffer
  attestationObject?: (attestationObject: Buffer) => Buffer
}

type AuthenticatorContext = { origin: string; rpId: string }
export type Authenticator = ReturnType<typeof createAuthenticator>
/** Credential outside of the authenticator: the key in PEM, the others in base64url. */
export type SavedCredential = { privateKey: string; credentialId: string; userHandle: string }

const algorithms = { ES256: -7, EdDSA: -8 } as const

/**
 * Creates a passkey provider in software (WebAuthn §6) with one discoverable credential, which counts signatures on
 * request.
 */
export function createAuthenticator(
  place: AuthenticatorContext,
  kind: keyof typeof algorithms = 'ES256',
  saved?: SavedCredential,
) {
  const privateKey = saved ? createPrivateKey(saved.privateKey) : newPrivateKey(kind)
  const publicKey = createPublicKey(privateKey)
  const credentialId = saved ? Buffer.from(saved.credentialId, 'base64url') : randomBytes(32)
  let userHandle = saved?.userHandle ?? ''

  return {
    credentialId: credentialId.toString('base64url'),
    publicKey: publicKey.export({ format: 'der', type: 'spki' }),

    save: (): SavedCredential => ({
      privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }),
      credentialId: credentialId.toString('base64url'),
      userHandle,
    }),

    register(
      { challenge, user }: Pick<CreationOptions, 'challenge' | 'user'>,
      bent: AuthenticatorOverrides = {},
    ): RegistrationResponse {
      userHandle = user.id
      const id = bent.credentialId ?? credentialId
      const attestedId = bent.attestedId ?? id
      const attested = Buffer.concat([
        bent.aaguid ?? Buffer.alloc(16),
        Buffer.from([attestedId.length >> 8, attestedId.length & 0xff]),
        attestedId,
        bent.publicKey ?? coseKey(publicKey, bent.algorithm ?? algorithms[kind]),
      ])
      const data = clientData('webauthn.create', challenge, place, bent)
      const authData = authenticatorData(place, bent, attested)
      const signature = signatureOver(Buffer.concat([authData, sha256(data)]), privateKey, kind)
      const statement = bent.selfAttested
        ? new Map<string, unknown>([
            ['alg', algorithms[kind]],
            ['sig', bent.signature?.(signature) ?? signature],
          ])
        : new Map<string, unknown>()
      const { fmt, attStmt } = bent.attestation?.({
        authData,
        clientDataHash: sha256(data),
        publicKey,
        sign: (signed) => signatureOver(signed, privateKey, kind),
      }) ?? { fmt: bent.selfAttested ? 'packed' : 'none', attStmt: statement }
      const attestationObject = cbor(
        new Map<string, unknown>([
          ['fmt', fmt],
          ['attStmt', attStmt],
          ['authData', authData],
        ]),
      )
      return {
        id: id.toString('base64url'),
        rawId: id.toString('base64url'),
        type: 'public-key',
        response: {
          clientDataJSON: data.toString('base64url'),
          attestationObject: (bent.attestationObject?.(attestationObject) ?? attestationObject).toString('base64url'),
          transports: ['internal'],
        },
        authenticatorAttachment: 'platform',
        clientExtensionResults: { credProps: { rk: true } },
      }
    },

    authenticate(
      { challenge }: Pick<RequestOptions, 'challenge'>,
      bent: AuthenticatorOverrides = {},
    ): AuthenticationResponse {
      const data = clientData('webauthn.get', challenge, place, bent)
      const authData = authenticatorData(place, bent)
      const signature = signatureOver(Buffer.concat([authData, sha256(data)]), privateKey, kind)
      const handle = bent.userHandle === undefined ? userHandle : bent.userHandle
      const id = (bent.credentialId ?? credentialId).toString('base64url')
      return {
        id,
        rawId: id,
        type: 'public-key',
        response: {
          clientDataJSON: data.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: (bent.signature?.(signature) ?? signature).toString('base64url'),
          ...(handle !== null && { userHandle: handle }),
        },
        clientExtensionResults: {},
      }
    },
  }
}

function newPrivateKey(kind: keyof typeof algorithms): KeyObject {
  return kind === 'ES256'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    : generateKeyPairSync('ed25519').privateKey
}

function clientData(
  type: string,
  challenge: string,
  { origin }: AuthenticatorContext,
  bent: AuthenticatorOverrides,
): Buffer {
  const json = JSON.stringify({
    type: bent.type ?? type,
    challenge: bent.challenge ?? challenge,
    origin: bent.origin ?? origin,
    crossOrigin: bent.crossOrigin ?? false,
    ...(bent.topOrigin !== undefined && { topOrigin: bent.topOrigin }),
    ...bent.clientDataExtras,
  })
  const data = Buffer.from((bent.byteOrderMark ? '\ufeff' : '') + json)
  return bent.clientData?.(data) ?? data
}

/** Builds authenticator data with the flags UP 1, UV 4, BE 8, BS 16 and AT 64 (WebAuthn §6.1). */
function authenticatorData({ rpId }: AuthenticatorContext, bent: AuthenticatorOverrides, attested?: Buffer): Buffer {
  const flags =
    ((bent.userPresent ?? true) ? 1 : 0) |
    ((bent.userVerified ?? true) ? 4 : 0) |
    ((bent.backupEligible ?? true) ? 8 : 0) |
    ((bent.backedUp ?? true) ? 16 : 0) |
    (attested ? 64 : 0)
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(bent.signCount ?? 0)
  return Buffer.concat([sha256(bent.rpId ?? rpId), Buffer.from([flags]), counter, attested ?? Buffer.alloc(0)])
}

function signatureOver(data: Buffer, key: KeyObject, kind: keyof typeof algorithms): Buffer {
  return sign(kind === 'ES256' ? 'sha256' : null, data, key)
}

/** Encodes a public key as COSE (RFC 9053 §7). */
function coseKey(key: KeyObject, algorithm: number): Buffer {
  const { crv, x = '', y } = key.export({ format: 'jwk' })
  const point = (text: string) => Buffer.from(text, 'base64url')
  return crv === 'P-256'
    ? cbor(
        new Map<number, unknown>([
          [1, 2],
          [3, algorithm],
          [-1, 1],
          [-2, point(x)],
          [-3, point(y ?? '')],
        ]),
      )
    : cbor(
        new Map<number, unknown>([
          [1, 1],
          [3, algorithm],
          [-1, 6],
          [-2, point(x)],
        ]),
      )
}

/** Encodes the part of CBOR (RFC 8949) that passkeys use: integers, byte and text strings, lists, maps. */
export function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)])
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, each]) => [cbor(key), cbor(each)])])
  throw new Error('unsupported CBOR type')
}

function head(major: number, argument: number): Buffer {
  if (argument < 24) return Buffer.from([(major << 5) | argument])
  if (argument < 256) return Buffer.from([(major << 5) | 24, argument])
  return Buffer.from([(major << 5) | 25, argument >> 8, argument & 0xff])
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}
