import { createPublicKey } from 'node:crypto'
import { isIP } from 'node:net'
import { fieldsOf, listOf, textOf } from './json.ts'
import { isLoopback } from './settings.ts'

/** What a provider's own documents say that can't be; an empty list means that they hold together. */
type Faults = string[]

/** The discovery document against the hosts on which it says things are (OpenID Connect Discovery §4.3). */
export function faultsOfMetadata(
  metadata: unknown,
  { authUrl, baseUrl }: { authUrl: string; baseUrl: string },
): Faults {
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

/** The key set against what the discovery document promises: a key for each algorithm, and no private one. */
export function faultsOfKeySet(keySet: unknown, metadata: unknown): Faults {
  const keys = listOf(fieldsOf(keySet).keys).map(fieldsOf)
  const promised = listOf(fieldsOf(metadata).id_token_signing_alg_values_supported).map(textOf)
  const kids = keys.map(({ kid }) => textOf(kid))

  const faults = keys.flatMap((key) => {
    if ('d' in key) return [`key ${textOf(key.kid)} is published with its private part`]
    return isPublicKey(key) ? [] : [`key ${textOf(key.kid)} cannot be read`]
  })
  if (new Set(kids).size < kids.length || kids.includes('')) faults.push('two keys share a key id, or one has none')
  if (promised.length === 0) faults.push('no algorithm for ID tokens is named')
  const missing = promised.filter((alg) => !keys.some((key) => key.alg === alg))
  return [...faults, ...missing.map((alg) => `there is no key for ${alg}`)]
}

/**
 * The hosts against what browsers ask of them: passkeys and the cookies of a session need a domain and `https:` (but
 * on localhost), and the pages of one host send the cookie of the other only within one site.
 */
export function faultsOfHosts(authUrl: string, baseUrl: string): Faults {
  const hosts = [new URL(authUrl), new URL(baseUrl)]
  const [auth = '', base = ''] = hosts.map(({ hostname }) => hostname)

  const faults = hosts.flatMap(({ protocol, hostname, origin }) => {
    if (isIP(hostname.replaceAll(/[[\]]/g, ''))) return [`${origin} is an address: passkeys need a name`]
    return protocol === 'https:' || isLoopback(hostname) ? [] : [`${origin} is not https:`]
  })
  if (new Set(hosts.map(({ protocol }) => protocol)).size > 1) faults.push('one host is https: and the other is not')
  if (auth !== base && !shareParent(auth, base)) faults.push(`${auth} and ${base} are not of one site`)
  return faults
}

/** Two labels in common: a guess at one site without the list of public suffixes, and kind where it errs. */
function shareParent(one: string, other: string): boolean {
  const parentOf = (hostname: string) => hostname.split('.').slice(-2).join('.')
  return parentOf(one) === parentOf(other)
}

function isPublicKey(key: Record<string, unknown>): boolean {
  try {
    createPublicKey({ key, format: 'jwk' })
    return true
  } catch {
    return false
  }
}
