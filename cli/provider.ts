import { createPublicKey } from 'node:crypto'
import { isIP } from 'node:net'
import { isSameSite } from '@countersign/protocol/formats/domain'
import { fieldsOf, listOf, textOf } from './terminal.ts'
import { isLoopback } from './settings.ts'

/** Checks the documents of a provider, and lists the problems found. An empty list means that they are consistent. */
type Faults = string[]

/** Checks the discovery document against the hosts of its URLs (OpenID Connect Discovery §4.3). */
export function checkMetadata(metadata: unknown, { authUrl, baseUrl }: { authUrl: string; baseUrl: string }): Faults {
  const fields = fieldsOf(metadata)
  const expected = {
    authorization_endpoint: authUrl,
    jwks_uri: authUrl,
    token_endpoint: baseUrl,
    userinfo_endpoint: baseUrl,
  }
  const misplaced = Object.entries(expected)
    .filter(([name, host]) => !textOf(fields[name]).startsWith(`${host}/`))
    .map(([name, host]) => `${name} is ${textOf(fields[name]) || 'missing'}, which is not on ${host}`)
  const issuer = textOf(fields.issuer)
  return issuer === authUrl ? misplaced : [`issuer is ${issuer || 'missing'}, not ${authUrl}`, ...misplaced]
}

/** Checks the key set against the discovery document: a key for each algorithm, and no private key. */
export function checkKeySet(keySet: unknown, metadata: unknown): Faults {
  const keys = listOf(fieldsOf(keySet).keys).map(fieldsOf)
  const promised = listOf(fieldsOf(metadata).id_token_signing_alg_values_supported).map(textOf)
  const kids = keys.map(({ kid }) => textOf(kid))

  const faults = keys.flatMap((key) => {
    if ('d' in key) return [`key ${textOf(key.kid)} is published with its private part`]
    return isPublicKey(key) ? [] : [`key ${textOf(key.kid)} cannot be read`]
  })
  if (new Set(kids).size < kids.length || kids.includes('')) faults.push('two keys share a key id, or a key has none')
  if (promised.length === 0) faults.push('no algorithm for ID tokens is listed')
  const missing = promised.filter((alg) => !keys.some((key) => key.alg === alg))
  return [...faults, ...missing.map((alg) => `no key for ${alg}`)]
}

/**
 * Checks the hosts against browser requirements: passkeys and session cookies need a domain and `https:` (except on
 * localhost), and the pages of one host send the cookie of another only within one site.
 */
export function checkHosts(authUrl: string, ...others: string[]): Faults {
  const [auth, ...hosts] = [...new Set([authUrl, ...others])].map((url) => new URL(url))
  if (!auth) return []
  const faults = [auth, ...hosts].flatMap(({ protocol, hostname, origin }) => {
    if (isIP(hostname.replaceAll(/[[\]]/g, ''))) return [`${origin} is an IP address: passkeys need a domain`]
    return protocol === 'https:' || isLoopback(hostname) ? [] : [`${origin} is not https:`]
  })
  const elsewhere = hosts.filter((host) => !isSameSite(auth, host))
  return [...faults, ...elsewhere.map((host) => `${auth.origin} and ${host.origin} are not on one site`)]
}

function isPublicKey(key: Record<string, unknown>): boolean {
  try {
    createPublicKey({ key, format: 'jwk' })
    return true
  } catch {
    return false
  }
}
