import { readSiteSettings } from '../page-data.ts'
import { hasPlainAuthority, isLoopback, isVisibleAscii, urlLengthMax } from './web-urls.ts'

/** Why the service refuses a redirect URI, as far as that is certain before the server sees it. */
export type RedirectUriFault =
  | 'separator'
  | 'notAbsolute'
  | 'fragment'
  | 'wildcard'
  | 'characters'
  | 'tooLong'
  | 'credentials'
  | 'insecure'
  | 'customScheme'
  | 'origin'
  | 'ownHost'

/** What decides which redirect URIs an app can have: whether it is public, and the base URLs of this service. */
export type RedirectUriRules = { isPublic: boolean; ours: string[] }

/** Returns the rules for an app of this service. */
export function rulesFor(isPublic: boolean): RedirectUriRules {
  const { baseUrl, authUrl, businessUrl } = readSiteSettings()
  return { isPublic, ours: [baseUrl, authUrl, businessUrl] }
}

/** Returns the first fault of a redirect URI (RFC 9700 §2.1, RFC 8252 §7), or undefined. */
export function redirectUriFault(uri: string, { isPublic, ours }: RedirectUriRules): RedirectUriFault | undefined {
  // URIs that were separated by something other than white space.
  if (/[,;](?:https?:|$)/.test(uri)) return 'separator'
  const url = URL.parse(uri)
  if (!url) return 'notAbsolute'
  if (uri.includes('#')) return 'fragment'
  if (/[*\\]/.test(uri)) return 'wildcard'
  if (!isVisibleAscii(uri)) return 'characters'
  if (uri.length > urlLengthMax) return 'tooLong'
  if (url.username !== '' || url.password !== '') return 'credentials'
  if (url.protocol === 'http:' && !isLoopback(url)) return 'insecure'
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return isPublic && url.protocol.includes('.') && uri.startsWith(`${url.protocol}/`) ? undefined : 'customScheme'
  if (!hasPlainAuthority(url) || !/^(?:[/?]|$)/.test(withoutPrefix(uri, url.origin))) return 'origin'
  return ours.some((each) => hostOf(new URL(each)) === hostOf(url)) ? 'ownHost' : undefined
}

/** Returns what follows a prefix, or the whole text if it begins otherwise. */
function withoutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text
}

/** Returns host and port. A trailing dot does not change a host name (RFC 1034 §3.1). */
function hostOf({ hostname, port }: URL): string {
  return `${hostname.replace(/\.$/, '')}:${port}`
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
