import { Type } from 'typebox'
import { limits } from './formats/limits.ts'

/** Pattern of UUIDs. They are converted to lower case first: the text is the key under which a row is found. */
export const uuidPattern = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
export const Uuid = Type.String({ pattern: uuidPattern })

const uuid = new RegExp(uuidPattern)

/** Checks whether a text is a UUID in canonical form. Other text must not reach a UUID column. */
export function isUuid(text: string): boolean {
  return uuid.test(text)
}
export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })
export const Base64Url = Type.String({ pattern: '^[A-Za-z0-9_-]+$' })

/** ID of a passkey (WebAuthn §7.1: at most 1,023 bytes). */
export const CredentialId = Type.String({
  pattern: '^[A-Za-z0-9_-]+$',
  maxLength: 1364,
  description: '1 to 1,023 bytes',
})

/** Opaque ciphertext that only the user's browser can decrypt. */
export const Ciphertext = Type.String({ minLength: 1, maxLength: limits.ciphertextBytesMax })

/** Text that may be empty; elsewhere an empty text counts as absent. */
export const AnyText = Type.String({ minLength: 0 })

/** Padded base64 (RFC 4648 §4); the server also checks that it is canonical. */
export const Base64 = Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$' })

const aKey = { description: 'Ed25519 public key, base64' }
const aSignature = { description: 'Ed25519 signature, base64' }
export const PublicKey = Type.String(aKey)
export const Signature = Type.String(aSignature)
/** Unchecked text: an invalid key or signature gets its own error. */
export const UncheckedPublicKey = Type.String({ ...aKey, maxLength: 200 })
export const UncheckedSignature = Type.String({ ...aSignature, maxLength: 200 })

export const WebUrl = Type.String({ minLength: 1, maxLength: 2000 })

/** Entity tag of a version that is a number, or `*` for any version of what exists (RFC 9110 §13.1.1). */
const ofNumber = '^(\\*|"(0|[1-9][0-9]{0,8})")$'
/** The same for a version that is a digest. */
const ofDigest = '^(\\*|"[A-Za-z0-9_-]{22}")$'
const inQuotes = 'in quotation marks; * for any'

/** Header of a change that replaces only the version that its caller has read. */
export const IfMatch = Type.Object({
  'if-match': Type.String({
    pattern: ofNumber,
    description: `The version or revision that the change replaces, ${inQuotes}`,
  }),
})

/** Without this header, the change replaces any version. */
export const OptionalIfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({ pattern: ofNumber, description: `The version that the change replaces, ${inQuotes}, as without it` }),
  ),
})

/** The same where the version is a digest. */
export const OptionalIfMatchDigest = Type.Object({
  'if-match': Type.Optional(
    Type.String({ pattern: ofDigest, description: `The version that the change replaces, ${inQuotes}, as without it` }),
  ),
})

/** Returns a schema that also accepts null. */
export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])
