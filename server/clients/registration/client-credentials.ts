import { readBasicCredentials } from './basic-credentials.ts'
import type { ClientCredentials, ClientProof } from './client-authentication.ts'
import { either } from '#platform/http/parse.ts'
import { refusals } from '#platform/refusal.ts'
import { Secret } from '#platform/crypto/secret.ts'

const refuse = refusals({ invalid_request: [400, 'The credentials of the client are sent in two ways.'] })

/** The fields of a body in which a client may name and prove itself. */
type Sent = Partial<Record<'client_id' | 'client_secret' | 'clientId' | 'clientSecret', string>>

/**
 * One way of authenticating a request (RFC 6749 §2.3): the header, or the fields of the body. Refuses
 * `invalid_request`; credentials that cannot be read are for `authenticateClient` to refuse, which counts them. An
 * empty secret is none: an app without one may still send the field, or the header.
 */
export function readCredentials(authorization: string | undefined, body: Sent): ClientCredentials {
  const clientId = either(body.client_id || undefined, body.clientId || undefined)
  const secret = either(body.client_secret || undefined, body.clientSecret || undefined)
  if (authorization === undefined) {
    if (!clientId) throw missing('client_id')
    return { clientId, proof: proofOf(secret === undefined ? undefined : new Secret(secret)), scheme: 'body' }
  }
  if (secret !== undefined)
    throw refuse.invalid_request({ sentence: 'Send the client secret once, in the header or in the body.' })
  const basic = readBasicCredentials(authorization)
  if (!basic) return { clientId: clientId ?? '', proof: { kind: 'unreadable' }, scheme: 'basic' }
  if (clientId !== undefined && clientId !== basic.clientId)
    throw refuse.invalid_request({ sentence: 'The header and the body name different clients.' })
  return { clientId: basic.clientId, proof: proofOf(basic.secret), scheme: 'basic' }
}

function proofOf(secret: Secret | undefined): ClientProof {
  return secret ? { kind: 'secret', secret } : { kind: 'none' }
}

/** The refusal of a request that lacks a field. */
export function missing(name: string) {
  return refuse.invalid_request({ sentence: `${name} is missing.` })
}
