import { isLocal } from '#platform/config/config.ts'
import { hasPlainHost, isPlainOrigin } from '#platform/origin.ts'
import { refusals } from '#platform/refusal.ts'
import type { RegisteredApp } from './app-directory.ts'

const refuse = refusals({ invalid_redirect_uri: [400, 'A redirect URI is not acceptable.'] })

/** A scheme that belongs to a domain, written backwards: `com.example.app:` (RFC 8252 §7.1). */
const privateUseScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/

/** Where an app may have a browser sent: with an answer, or when the person has signed out. */
type Kind = 'redirect URI' | 'post-logout redirect URI'

/** The app of the playground, which is there while `DEMO` is on, and which alone is sent back to a page of ours. */
export const playgroundClientId = 'app_playground'

/** Our own three addresses, as the settings or the pages have them. */
export type Ours = Record<'baseUrl' | 'authUrl' | 'businessUrl', URL | string>

/**
 * Whether an address is on a host of ours. Nobody else's app is sent back to us: our page would lead the browser there,
 * and what is led there by a page of ours would pass for what we do ourselves.
 */
function isOurs(uri: string, { baseUrl, authUrl, businessUrl }: Ours): boolean {
  const url = URL.parse(uri)
  return url !== null && [baseUrl, authUrl, businessUrl].some((ours) => hostOf(new URL(ours)) === hostOf(url))
}

/** A name with a dot at its end is the same name (RFC 1034 §3.1). */
const hostOf = ({ hostname, port }: URL) => `${hostname.replace(/\.$/, '')}:${port}`

/**
 * Whether an app may have a browser sent to this redirect URI: it has registered it, and it is none of ours, whenever
 * it was registered.
 */
export function isRegisteredRedirect(app: RedirectingApp, uri: string, ours: Ours): boolean {
  return isRegistered(app, uri) && !isOfAnother(app, uri, ours)
}

function isOfAnother({ clientId }: Pick<RegisteredApp, 'clientId'>, uri: string, ours: Ours): boolean {
  return clientId !== playgroundClientId && isOurs(uri, ours)
}

/**
 * Whether an app has registered this very text as a redirect URI (RFC 9700 §2.1). A public one that is registered so,
 * and one that describes itself, may answer on any port of a loopback address that it names (RFC 8252 §7.3): it can't
 * know which is free on a user's device.
 */
function isRegistered(app: PortFreeingApp, uri: string): boolean {
  const { redirectUris } = app
  if (redirectUris.includes(uri)) return true
  const portless = freesLoopbackPort(app) ? withoutLoopbackPort(uri) : undefined
  return portless !== undefined && redirectUris.some((registered) => withoutLoopbackPort(registered) === portless)
}

type PortFreeingApp = Pick<RegisteredApp, 'redirectUris' | 'documentReadAt' | 'isPublic' | 'allowAnyLoopbackPort'>
type RedirectingApp = PortFreeingApp & Pick<RegisteredApp, 'clientId'>

function freesLoopbackPort({ documentReadAt, isPublic, allowAnyLoopbackPort }: PortFreeingApp): boolean {
  return documentReadAt !== null || (isPublic && allowAnyLoopbackPort)
}

/** Whether a redirect URI is registered but for its port, so that any program on the device may answer there. */
export function usesFreedPort(app: PortFreeingApp, uri: string): boolean {
  return !app.redirectUris.includes(uri) && isRegistered(app, uri)
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
  app: Pick<RegisteredApp, 'clientId' | 'postLogoutRedirectUris'>,
  uri: string,
  ours: Ours,
): boolean {
  return app.postLogoutRedirectUris.includes(uri) && !isOfAnother(app, uri, ours)
}

/**
 * Refuses `invalid_redirect_uri` for what must not be registered. A redirect URI is https, http on this machine, or for
 * a public app of a private-use scheme (RFC 8252 §7.1). Whatever a parser would read as another origin than the one
 * that is written there is refused, since the text is what people and comparisons see; and so is every address of ours.
 */
export function requireRedirectUri(
  uri: string,
  { isPublic, ours, kind = 'redirect URI' }: { isPublic: boolean; ours: Ours; kind?: Kind },
): void {
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
  if (!hasPlainHost(url)) throw because('has a host of letters, digits, hyphens and dots.')
  if (!startsWithOrigin(uri, url.origin)) throw because(`starts with its origin as it is: ${url.origin}`)
  if (isOurs(uri, ours)) throw because('is an address of the app, and none of this service.')
}

/** The origins of redirect URIs, each once. A private-use scheme has none, nor has what no header may hold. */
export function originsOf(redirectUris: string[]): string[] {
  return [...new Set(redirectUris.map((uri) => new URL(uri).origin))].filter(isPlainOrigin)
}

export function startsWithOrigin(uri: string, origin: string): boolean {
  return uri.startsWith(origin) && /^(?:[/?]|$)/.test(uri.slice(origin.length))
}
