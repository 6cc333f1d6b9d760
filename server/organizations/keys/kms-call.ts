import { randomUUID } from 'node:crypto'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { Type, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import { Unreachable } from '#platform/outbound/fetch.ts'
import { signJwt } from '#tokens/signing-keys/jwt.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

const withinMilliseconds = 5000
const answerBytesMax = 64 * 1024
const proofLifetimeSeconds = 60

const Wrapped = Type.Object({ ciphertext: Type.String({ pattern: '^[\\x21-\\x7e]+$', maxLength: 8192 }) })
const Unwrapped = Type.Object({ plaintext: Type.String({ maxLength: 1024 }) })

/** What it takes to ask a KMS. */
export type Calling = { kernel: Kernel; keys: SigningKeys }

/** A KMS, and which key of which organization it is asked about: it binds the one to the other. */
export type KmsPlace = { url: string; organizationId: string; keyId: string }

/** Has a KMS wrap a key. Throws `Unreachable`. */
export async function askToWrap(calling: Calling, place: KmsPlace, key: Buffer, now: Date): Promise<string> {
  const plaintext = key.toString('base64')
  const { ciphertext } = await ask(calling, place, { operation: 'wrap', plaintext, answer: Wrapped }, now)
  return ciphertext
}

/** Has a KMS unwrap a key that it has wrapped. Throws `Unreachable`. */
export async function askToUnwrap(calling: Calling, place: KmsPlace, ciphertext: string, now: Date): Promise<Buffer> {
  const { plaintext } = await ask(calling, place, { operation: 'unwrap', ciphertext, answer: Unwrapped }, now)
  const bytes = fromCanonicalBase64(plaintext)
  if (!bytes) throw new Unreachable('not_base64')
  return Buffer.from(bytes)
}

type Question = { operation: 'wrap'; plaintext: string } | { operation: 'unwrap'; ciphertext: string }

/**
 * Asks a KMS. That it is us who ask, for which organization, and just this, says a JWT by our keys, for a minute and
 * for this KMS alone: so no secret has to be shared with it, nor kept here.
 */
async function ask<Answer extends TSchema>(
  { kernel, keys }: Calling,
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
  if (answered.status !== 200) throw new Unreachable(`status_${answered.status}`)
  const json = parseQuietly(answered.body)
  if (!Value.Check(answer, json)) throw new Unreachable('unexpected_answer')
  return json
}

function addressOf(url: string, operation: Question['operation']): string {
  const address = new URL(url)
  address.pathname = `${address.pathname.replace(/\/$/, '')}/${operation}`
  return address.href
}

/** JSON, or undefined: the error of JSON.parse quotes the text that it could not read, which here is a secret. */
function parseQuietly(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
