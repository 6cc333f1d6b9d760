import { randomUUID } from 'node:crypto'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import type { OrganizationId } from '@countersign/protocol/ids'
import { Type, type TSchema } from 'typebox'
import { Check } from 'typebox/schema'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { OutboundError } from '#platform/outbound/fetch.ts'
import { signJwt } from '#tokens/signing-keys/jwt.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

const withinMilliseconds = 5000
const answerBytesMax = 64 * 1024
const proofLifetimeSeconds = 60

const Wrapped = Type.Object({ ciphertext: Type.String({ pattern: '^[\\x21-\\x7e]+$', maxLength: 8192 }) })
const Unwrapped = Type.Object({ plaintext: Type.String({ maxLength: 1024 }) })

/** Dependencies for requests to a KMS. */
export type KmsCallDeps = { kernel: ServerContext; keys: SigningKeys }

/** A KMS, and the organization key that the request is about. The KMS binds the wrapped key to both. */
export type KmsPlace = { url: string; organizationId: OrganizationId; keyId: string }

/** Sends a key to the KMS to be wrapped. Throws `Unreachable`. */
export async function kmsWrap(calling: KmsCallDeps, place: KmsPlace, key: Buffer, now: Date): Promise<string> {
  const plaintext = key.toString('base64')
  const { ciphertext } = await ask(calling, place, { operation: 'wrap', plaintext, answer: Wrapped }, now)
  return ciphertext
}

/** Sends a wrapped key to the KMS to be unwrapped. Throws `Unreachable`. */
export async function kmsUnwrap(calling: KmsCallDeps, place: KmsPlace, ciphertext: string, now: Date): Promise<Buffer> {
  const { plaintext } = await ask(calling, place, { operation: 'unwrap', ciphertext, answer: Unwrapped }, now)
  const bytes = fromCanonicalBase64(plaintext)
  if (!bytes) throw new OutboundError('not_base64')
  return Buffer.from(bytes)
}

type Question = { operation: 'wrap'; plaintext: string } | { operation: 'unwrap'; ciphertext: string }

/**
 * Sends a request to a KMS. A JWT signed with the service's token-signing keys proves the sender, the organization and
 * the content. It is valid for one minute and for this KMS only, so no shared secret is needed.
 */
async function ask<Answer extends TSchema>(
  { kernel, keys }: KmsCallDeps,
  { url, organizationId, keyId }: KmsPlace,
  { operation, answer, ...content }: Question & { answer: Answer },
  now: Date,
) {
  const body = JSON.stringify({ ...content, context: { organizationId, keyId } })
  const issuedAt = Math.floor(now.getTime() / 1000)
  const proof = await signJwt(keys, 'ES256', 'kms+jwt', {
    iss: kernel.config.authUrl.origin,
    aud: url,
    sub: organizationId,
    iat: issuedAt,
    exp: issuedAt + proofLifetimeSeconds,
    jti: randomUUID(),
    operation,
    body_sha256: sha256(Buffer.from(body)).toString('base64url'),
  })
  const answered = await kernel.outbound.exchange(addressOf(url, operation), {
    method: 'POST',
    headers: { authorization: `Bearer ${proof}`, 'content-type': 'application/json', accept: 'application/json' },
    body,
    bodyBytesMax: answerBytesMax,
    withinMilliseconds,
  })
  if (answered.status !== 200) throw new OutboundError(`status_${answered.status}`)
  const json = parseQuietly(answered.body)
  if (!Check(answer, json)) throw new OutboundError('unexpected_response')
  return json
}

function addressOf(url: string, operation: Question['operation']): string {
  const address = new URL(url)
  address.pathname = `${address.pathname.replace(/\/$/, '')}/${operation}`
  return address.href
}

/** Parses JSON or returns undefined. The error of JSON.parse would quote the text, which contains a secret here. */
function parseQuietly(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
