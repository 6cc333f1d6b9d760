import { isLocal } from '#kernel/config.ts'
import { refusals } from '#kernel/refusal.ts'
import type { RegisteredApp } from './app-directory.ts'

const refuse = refusals({ invalid_redirect_uri: [400, 'A redirect URI is not acceptable.'] })

/** A scheme that belongs to a domain, written backwards: `com.example.app:` (RFC 8252 §7.1). */
const privateUseScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/

/** Where an app may have a browser sent: with an answer, or when the person has signed out. */
type Kind = 'redirect URI' | 'post-logout redirect URI'

/**
 * Whether an app has registered this very text as a redirect URI (RFC 9700 §2.1). A public one that is registered so,
 * and one that describes itself, may answer on any port of a loopback address that it names (RFC 8252 §7.3): it can't
 * know which is free on a user's device.
 */
export function isRegisteredRedirect(app: RedirectingApp, uri: string): boolean {
  const { redirectUris } = app
  if (redirectUris.includes(uri)) return true
  const portless = freesLoopbackPort(app) ? withoutLoopbackPort(uri) : undefined
  return portless !== undefined && redirectUris.some((registered) => withoutLoopbackPort(registered) === portless)
}

type RedirectingApp = Pick<RegisteredApp, 'redirectUris' | 'documentReadAt' | 'isPublic' | 'allowAnyLoopbackPort'>

function freesLoopbackPort({ documentReadAt, isPublic, allowAnyLoopbackPort }: RedirectingApp): boolean {
  return documentReadAt !== null || (isPublic && allowAnyLoopbackPort)
}

/** Whether a redirect URI is registered but for its port, so that any program on the device may answer there. */
export function usesFreedPort(app: RedirectingApp, uri: string): boolean {
  return !app.redirectUris.includes(uri) && isRegisteredRedirect(app, uri)
}

/** `http://127.0.0.1:3000/x` as `http://127.0.0.1/x`, so written; undefined for whatever is on no loopback address. */
function withoutLoopbackPort(uri: string): string | undefined {
  const [, host, port = '', rest] =
    /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?([/?][\x21-\x7e]*)?$/.exec(uri) ?? []
  if (host === undefined || Number(port) > 65_535 || uri.includes('#') || uri.includes('\\')) return undefined
  return host + (rest ?? '')
}

/** The same for those who have signed out (OpenID Connect RP-Initiated Logout §3). */
export function isRegisteredPostLogout(
  { postLogoutRedirectUris }: { postLogoutRedirectUris: string[] },
  uri: string,
): boolean {
  return postLogoutRedirectUris.includes(uri)
}

/**
 * Refuses `invalid_redirect_uri` for what must not be registered. A redirect URI is https, http on this machine, or for
 * a public app of a private-use scheme (RFC 8252 §7.1). Whatever a parser would read as another origin than the one
 * that is written there is refused, since the text is what people and comparisons see.
 */
export function requireRedirectUri(uri: string, isPublic: boolean, kind: Kind = 'redirect URI'): void {
  const because = (rule: string) => refuse.invalid_redirect_uri({ sentence: `A ${kind} ${rule}` })
  if (!/^[\x21-\x7e]+$/.test(uri) || /[\\*]/.test(uri))
    throw because('is written in visible ASCII characters, without a backslash or an asterisk.')
  if (uri.includes('#')) throw because('has no fragment.')

  const url = URL.parse(uri)
  if (!url) throw because('is an absolute URL.')
  if (url.username !== '' || url.password !== '') throw because('has no user name or password.')
  if (isPublic && privateUseScheme.test(url.protocol) && uri.startsWith(`${url.protocol}/`)) return

  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal(url)))
    throw because('starts with https://, or http:// on localhost; a public app may use its own scheme.')
  if (!startsWithOrigin(uri, url.origin)) throw because(`starts with its origin as it is: ${url.origin}`)
}

/** The origins of redirect URIs, each once. A private-use scheme has none. */
export function originsOf(redirectUris: string[]): string[] {
  return [...new Set(redirectUris.map((uri) => new URL(uri).origin))].filter((origin) => origin !== 'null')
}

export function startsWithOrigin(uri: string, origin: string): boolean {
  return uri.startsWith(origin) && /^(?:[/?]|$)/.test(uri.slice(origin.length))
}
