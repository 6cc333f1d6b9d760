import { toBase64 } from '@countersign/protocol/formats/base64'
import { secretCommitment } from '@countersign/protocol/formats/acts/act'
import type { Json, JsonObject } from '@countersign/protocol/formats/signing/canonical-json'
import { sha256 } from '#platform/crypto/secret.ts'

/** Request of an endpoint, without the query: what is signed, stored and carried out. */
export type RequestContent = { params: JsonObject; body: JsonObject | null }

type RequestSchemas = { params?: unknown; body?: unknown }

/** Returns what of a request its schemas name, except `signedAction`. */
export function readContent(schemas: RequestSchemas, request: { params: unknown; body: unknown }): RequestContent {
  const params = pick(request.params, schemas.params, (secret) => secret)
  const body = pick(request.body ?? null, schemas.body, (secret) => secret)
  if (!isObject(params) || (body !== null && !isObject(body))) throw new Error('a validated request is no object')
  const { signedAction: _unsigned, ...fields } = body ?? {}
  return { params, body: body && fields }
}

/**
 * Builds the details of an act: the parameters of the path and the fields of the body, with a commitment in place of
 * each secret, and the values that the act changes.
 */
export function toDetails(
  schemas: RequestSchemas,
  { params, body }: RequestContent,
  { secretSalt, from }: { secretSalt: Uint8Array; from: JsonObject | undefined },
): JsonObject {
  const commit = (secret: string) => ({ commitment: secretCommitment(sha256, secret, secretSalt) })
  const fields = pick(body ?? {}, schemas.body, commit)
  return { ...params, ...(isObject(fields) && fields), ...(from && { from }) }
}

/** Returns whether a request contains a secret. */
function hasSecret(schemas: RequestSchemas, { body }: RequestContent): boolean {
  let found = false
  pick(body, schemas.body, (secret) => {
    found = true
    return secret
  })
  return found
}

/** Formats a salt of commitments, if there are any. */
export function toSecretSalt(schemas: RequestSchemas, content: RequestContent, secretSalt: Uint8Array) {
  return hasSecret(schemas, content) ? { secretSalt: toBase64(secretSalt) } : {}
}

/** Copies what of a value its schema names. `secret` maps the texts that the schema marks as `writeOnly`. */
function pick(value: unknown, schema: unknown, secret: (text: string) => Json): Json {
  const { properties, items, writeOnly } = isRecord(schema) ? schema : {}
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'string') return writeOnly === true ? secret(value) : value
  if (Array.isArray(value)) return value.map((item: unknown) => pick(item, items, secret))
  if (!isRecord(value)) throw new Error('a validated request is no JSON')
  const schemaOf = isRecord(properties) ? properties : {}
  const names = Object.keys(isRecord(properties) ? properties : value).filter((name) => Object.hasOwn(value, name))
  return Object.fromEntries(names.map((name) => [name, pick(value[name], schemaOf[name], secret)]))
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
