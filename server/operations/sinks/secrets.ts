import { isSinkHeaderValue } from '@countersign/protocol/formats/audit/sink-header'
import { limits } from '@countersign/protocol/formats/limits'
import type { Database } from '#platform/database/database.ts'
import { ConfigError } from '#platform/config-error.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { ServerContext } from '#platform/module/services.ts'
import * as store from './store.ts'
import type { SinkRow } from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'headers must be Authorization, or begin with X-, with values of visible ASCII characters.'],
})

const secretBytes = 32

type Sealing = Pick<ServerContext, 'keyring'>

/** Creates the secret that signs requests. Returns it in the format of Standard Webhooks, and sealed. */
export async function createSecret({ keyring }: Sealing, sinkId: string): Promise<{ secret: string; sealed: string }> {
  const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`
  return { secret, sealed: await keyring.seal(secretContext(sinkId), secret) }
}

/** Opens the secrets that sign now: the present one, and the one before until its end. */
export async function openSecrets(kernel: Sealing, row: SinkRow, now: Date): Promise<string[]> {
  const { sinkId, sealedSecret, previousSealedSecret, previousSecretUntil } = row
  const secret = await openSecret(kernel, sinkId, sealedSecret ?? '')
  if (previousSealedSecret === null || previousSecretUntil === null || previousSecretUntil <= now) return [secret]
  return [secret, await openSecret(kernel, sinkId, previousSealedSecret)]
}

function openSecret({ keyring }: Sealing, sinkId: string, sealed: string): Promise<string> {
  return keyring.open(secretContext(sinkId), sealed)
}

/** Headers as they are stored: their names, and their values sealed. */
export type SealedHeaders = { headerNames: string[]; sealedHeaders: string | null }

/** Seals the headers of requests. Throws `invalid_request` for other headers than operators may add. */
export async function sealHeaders(
  { keyring }: Sealing,
  sinkId: string,
  headers: Record<string, string>,
): Promise<SealedHeaders> {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const isValid = named.every(([name, value]) => isHeader(name) && isSinkHeaderValue(value))
  const headerNames = [...new Set(named.map(([name]) => name))]
  if (!isValid || headerNames.length !== named.length || named.length > limits.sinkHeadersMax)
    throw errors.invalid_request()
  if (named.length === 0) return { headerNames, sealedHeaders: null }
  const text = JSON.stringify(Object.fromEntries(named))
  return { headerNames, sealedHeaders: await keyring.seal(headersContext(sinkId), text) }
}

function isHeader(name: string): boolean {
  return name === 'authorization' || /^x-[a-z0-9-]{1,60}$/.test(name)
}

export async function openHeaders(
  { keyring }: Sealing,
  sinkId: string,
  sealed: string | null,
): Promise<Record<string, string>> {
  if (sealed === null) return {}
  const headers: unknown = JSON.parse(await keyring.open(headersContext(sinkId), sealed))
  const entries = Object.entries(headers ?? {})
  return Object.fromEntries(entries.map(([name, value]): [string, string] => [name, String(value)]))
}

/** Checks whether requests to a sink have exactly these headers. Sealed ones that no root key opens are others. */
export async function hasHeaders(
  { keyring }: Sealing,
  { sinkId, sealedHeaders }: { sinkId: string; sealedHeaders: string | null },
  headers: Record<string, string>,
): Promise<boolean> {
  try {
    return equalBytes(digestOf(await openHeaders({ keyring }, sinkId, sealedHeaders)), digestOf(headers))
  } catch (error) {
    if (error instanceof ConfigError) return false
    throw error
  }
}

function digestOf(headers: Record<string, string>): Buffer {
  const named = Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value])
  return sha256(JSON.stringify(named.toSorted(([one], [other]) => (one < other ? -1 : 1))))
}

/** Deletes former secrets that no longer sign. Returns their number. */
export function pruneSinkSecrets(db: Database, now: Date): Promise<number> {
  return store.deleteEndedSecrets(db, now)
}

/** Re-encrypts secrets that are not under the current root key, so that the operator can remove the old one. */
export async function reencryptSinks({ db, keyring }: Pick<ServerContext, 'db' | 'keyring'>): Promise<void> {
  for (const row of await store.listSinks(db)) {
    const { sinkId, sealedHeaders } = row
    const headers = sealedHeaders && (await keyring.renew(headersContext(sinkId), sealedHeaders))
    const renew = async (sealed: string | null) => sealed && (await keyring.renew(secretContext(sinkId), sealed))
    const sealedSecret = await renew(row.sealedSecret)
    const previousSealedSecret = await renew(row.previousSealedSecret)
    if (headers !== sealedHeaders) await store.replaceHeaders(db, sinkId, sealedHeaders, headers)
    if (sealedSecret !== row.sealedSecret || previousSealedSecret !== row.previousSealedSecret)
      await store.replaceSecrets(db, sinkId, row, { sealedSecret, previousSealedSecret })
  }
}

function headersContext(sinkId: string): string {
  return `sink-headers:${sinkId}`
}

function secretContext(sinkId: string): string {
  return `sink-secret:${sinkId}`
}
