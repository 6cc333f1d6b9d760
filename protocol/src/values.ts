import { Type } from 'typebox'
import { limits } from './formats/limits.ts'

/** The values that many schemas share. UUIDs are lower-cased before: the text is the key under which a row is found. */
export const uuidPattern = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
export const Uuid = Type.String({ pattern: uuidPattern })
export const Instant = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })
export const Base64Url = Type.String({ pattern: '^[A-Za-z0-9_-]+$' })

/** The id of a passkey (WebAuthn §7.1: at most 1,023 bytes). */
export const CredentialId = Type.String({
  pattern: '^[A-Za-z0-9_-]+$',
  maxLength: 1364,
  description: '1 to 1,023 bytes',
})

/** An opaque ciphertext that only the person's browser opens. */
export const Ciphertext = Type.String({ minLength: 1, maxLength: limits.ciphertextBytesMax })

/** A text that may be empty, which counts as absent everywhere else. */
export const AnyText = Type.String({ minLength: 0 })

/** Base64 as RFC 4648 §4 has it, padded; the server also checks that it is canonical. */
export const Base64 = Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$' })

const aKey = { description: 'Ed25519 public key, base64' }
const aSignature = { description: 'Ed25519 signature, base64' }
export const PublicKey = Type.String(aKey)
export const Signature = Type.String(aSignature)
/** As they are sent: what is no key or signature gets a refusal of its own. */
export const SentKey = Type.String({ ...aKey, maxLength: 200 })
export const SentSignature = Type.String({ ...aSignature, maxLength: 200 })

/** An id that was given out here, or the address of a document. */
export const ClientId = Type.String({ minLength: 1, maxLength: limits.clientIdCharactersMax })
export const WebUrl = Type.String({ minLength: 1, maxLength: 2000 })

/** A value, or that there is none. */
export const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])
