import { isSameKey, parseRecipientKey, type RecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import type { SignInView } from '@countersign/protocol/pages'

type RequestView = Pick<SignInView, 'redirectUri' | 'key'> & { app: Pick<SignInView['app'], 'clientId'> }

/**
 * Returns whether the client, the redirect URI and the key recipient in the server's view match the URL of this page,
 * which the app itself has written. A URL without a client, or with a pushed authorization request, does not contain
 * them.
 */
export function matchesRequest({ app, redirectUri, key }: RequestView, search: string): boolean {
  const own = new URLSearchParams(search)
  if (!own.has('client_id')) return true
  if (!isOnly(own, 'client_id', app.clientId)) return false
  if (own.has('request_uri')) return true
  return isOnly(own, 'redirect_uri', redirectUri) && isRecipient(own.getAll('app_key_jwk'), key?.recipient)
}

type RegisteredRecipient = { app: Pick<SignInView['app'], 'appKeyRecipientJwk'> }

/**
 * Where the app wants its answer: the redirect URI, the state that comes back, and the recipient of the app key.
 *
 * `binds` if the recipient is the key that the app has registered for its server. Only a recipient in the URL of this
 * page binds a key, because the server could invent any other.
 */
export type RequestedTarget = {
  redirectUri: string
  state: string | undefined
  recipient: RecipientKey | undefined
  binds: boolean
}

/**
 * Returns where the app wants its answer, by the URL of this page. A URL without a client, or with a pushed
 * authorization request, does not contain it: then the view of the server says it, and the places in the envelope of
 * the key decide whether the key goes there.
 */
export function requestedTarget(
  { app, redirectUri, state, key }: Pick<SignInView, 'redirectUri' | 'state' | 'key'> & RegisteredRecipient,
  search: string,
): RequestedTarget {
  const own = new URLSearchParams(search)
  if (!own.has('client_id') || own.has('request_uri'))
    return { redirectUri, state, recipient: key?.recipient, binds: false }
  const written = own.get('app_key_jwk')
  const recipient = written === null ? undefined : parseRecipientKey(written)
  const registered = app.appKeyRecipientJwk === null ? undefined : parseRecipientKey(app.appKeyRecipientJwk)
  return {
    redirectUri: own.get('redirect_uri') ?? '',
    state: own.get('state') || undefined,
    recipient,
    binds: recipient !== undefined && registered !== undefined && isSameKey(recipient, registered),
  }
}

/**
 * Returns whether a URL is the redirect URI: the same scheme, host, port, path and query, to which exactly `code`, the
 * `state` of the request and the `iss` of this service are added. URIs without a host, such as
 * `com.example.app:/callback`, are compared as a whole.
 */
export function leadsTo(
  answer: string,
  { redirectUri, state, issuer }: Pick<RequestedTarget, 'redirectUri' | 'state'> & { issuer: string },
): boolean {
  const [target, expected] = [URL.parse(answer), URL.parse(redirectUri)]
  if (!target || !expected || target.hash !== '' || bareOf(target) !== bareOf(expected)) return false
  const own = [...expected.searchParams]
  const given = [...target.searchParams]
  const keepsOwn = own.every(([name, value], index) => given[index]?.[0] === name && given[index][1] === value)
  const added = given.slice(own.length)
  const names = added.map(([name]) => name).toSorted()
  const expectedNames = state === undefined ? 'code,iss' : 'code,iss,state'
  if (!keepsOwn || names.join() !== expectedNames) return false
  return added.every(([name, value]) => name === 'code' || value === (name === 'iss' ? issuer : state))
}

/** Returns a URL without its query and fragment. Works for the URIs of installed apps too, which have no origin. */
function bareOf({ href, search, hash }: URL): string {
  return href.slice(0, href.length - search.length - hash.length)
}

function isOnly(query: URLSearchParams, name: string, value: string): boolean {
  const values = query.getAll(name)
  return values.length === 1 && values[0] === value
}

function isRecipient(written: string[], named: RecipientKey | undefined): boolean {
  if (written.length === 0) return named === undefined
  const own = written.length === 1 ? parseRecipientKey(written[0] ?? '') : undefined
  return own !== undefined && named !== undefined && isSameKey(own, named)
}
