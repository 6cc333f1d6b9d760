import { readRecipientKey, type RecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import type { SignInView } from '@countersign/protocol/pages'

type Asked = Pick<SignInView, 'redirectUri' | 'key'> & { app: Pick<SignInView['app'], 'clientId'> }

/**
 * Whether the app, the redirect URI and the recipient of the key that the server names are those in the address of this
 * page, where the app itself has written them. An address that names no app, or a request that the app has pushed, says
 * nothing of them.
 */
export function isAsAsked({ app, redirectUri, key }: Asked, search: string): boolean {
  const own = new URLSearchParams(search)
  if (!own.has('client_id')) return true
  if (!isOnly(own, 'client_id', app.clientId)) return false
  if (own.has('request_uri')) return true
  return isOnly(own, 'redirect_uri', redirectUri) && isRecipient(own.getAll('app_key_jwk'), key?.recipient)
}

/**
 * Whether an answer leads to the redirect URI: the same scheme, host, port, path and query, with nothing but `code`,
 * `state` and `iss` added, each once at most. What has no host, such as `com.example.app:/callback`, is compared whole.
 */
export function leadsTo(answer: string, redirectUri: string): boolean {
  const [led, asked] = [URL.parse(answer), URL.parse(redirectUri)]
  if (!led || !asked || led.hash !== '' || bareOf(led) !== bareOf(asked)) return false
  const own = [...asked.searchParams]
  const given = [...led.searchParams]
  const names = given.slice(own.length).map(([name]) => name)
  const keepsOwn = own.every(([name, value], index) => given[index]?.[0] === name && given[index][1] === value)
  return keepsOwn && names.every((name) => added.includes(name)) && new Set(names).size === names.length
}

const added = ['code', 'state', 'iss']

/** All of an address but its query and fragment; the address of an installed app too, which has no origin. */
function bareOf({ href, search, hash }: URL): string {
  return href.slice(0, href.length - search.length - hash.length)
}

function isOnly(query: URLSearchParams, name: string, value: string): boolean {
  const values = query.getAll(name)
  return values.length === 1 && values[0] === value
}

function isRecipient(written: string[], named: RecipientKey | undefined): boolean {
  if (written.length === 0) return named === undefined
  const own = written.length === 1 ? readRecipientKey(written[0] ?? '') : undefined
  return own !== undefined && named !== undefined && pointOf(own) === pointOf(named)
}

function pointOf(key: RecipientKey): string {
  return [key.crv, key.x, key.kty === 'EC' ? key.y : ''].join('.')
}
