/** Why a redirect URI cannot work, as far as that is certain before the server sees it. */
export type RedirectUriFault = 'notAbsolute' | 'fragment' | 'wildcard' | 'insecure' | 'customScheme'

/** Returns the first fault of a redirect URI (RFC 9700 §2.1, RFC 8252 §7), or undefined. */
export function redirectUriFault(uri: string, isPublic: boolean): RedirectUriFault | undefined {
  const url = URL.parse(uri)
  if (!url) return 'notAbsolute'
  if (uri.includes('#')) return 'fragment'
  if (/[*\\]/.test(uri)) return 'wildcard'
  if (url.protocol === 'https:') return undefined
  if (url.protocol === 'http:') return isLoopback(url) ? undefined : 'insecure'
  return isPublic && url.protocol.includes('.') ? undefined : 'customScheme'
}

function isLoopback({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) || hostname.endsWith('.localhost')
}

/** How a redirect URI that an app sends differs from the registered one that is most like it. */
export type RedirectUriDifference =
  | 'nothingRegistered'
  | 'slash'
  | 'scheme'
  | 'loopbackName'
  | 'host'
  | 'port'
  | 'letterCase'
  | 'path'
  | 'query'

export type RedirectUriCheck =
  | { kind: 'empty' | 'match' | 'notAbsolute' }
  | { kind: 'different'; difference: RedirectUriDifference; registered: string | undefined }

/**
 * Compares the redirect URI that an app sends with the registered ones. They must be the same text (RFC 9700 §2.1): the
 * smallest difference is an error.
 */
export function checkRedirectUri(sent: string, registered: string[]): RedirectUriCheck {
  if (sent === '') return { kind: 'empty' }
  if (registered.includes(sent)) return { kind: 'match' }
  const url = URL.parse(sent)
  if (!url) return { kind: 'notAbsolute' }
  const compared = registered.flatMap((uri) => {
    const other = URL.parse(uri)
    return other ? [{ registered: uri, difference: differenceOf({ sent, url }, { uri, other }) }] : []
  })
  const [nearest] = compared.toSorted((one, other) => rank(one.difference) - rank(other.difference))
  return { kind: 'different', difference: 'nothingRegistered', registered: undefined, ...nearest }
}

/** The differences, the smallest first. */
const ranks: RedirectUriDifference[] = [
  'slash',
  'letterCase',
  'loopbackName',
  'scheme',
  'port',
  'query',
  'path',
  'host',
  'nothingRegistered',
]
const rank = (difference: RedirectUriDifference) => ranks.indexOf(difference)

type Sent = { sent: string; url: URL }
type Registered = { uri: string; other: URL }

function differenceOf({ sent, url }: Sent, { uri, other }: Registered): RedirectUriDifference {
  if (withoutSlash(sent) === withoutSlash(uri)) return 'slash'
  if (sent.toLowerCase() === uri.toLowerCase()) return 'letterCase'
  if (url.hostname !== other.hostname) {
    const isSameOtherwise = restOf(url) === restOf(other) && url.port === other.port
    return isLoopback(url) && isLoopback(other) && isSameOtherwise ? 'loopbackName' : 'host'
  }
  if (url.protocol !== other.protocol) return 'scheme'
  if (url.port !== other.port) return 'port'
  return url.pathname === other.pathname ? 'query' : 'path'
}

function restOf({ pathname, search }: URL): string {
  return pathname + search
}

function withoutSlash(uri: string): string {
  return uri.endsWith('/') ? uri.slice(0, -1) : uri
}
