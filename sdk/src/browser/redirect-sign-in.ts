import { parseSealedFragment } from '@countersign/protocol/formats/encryption/app-key-fragment'
import { CountersignError } from '../shared/error.ts'
import { isRecord } from '../shared/exchange.ts'
import { challengeOf, isMaxAge, randomText, type SignInGrant, type PkceState } from '../server/sign-in-exchange.ts'
import type { ResolvedClientConfig } from './sign-in.ts'
import { tabStorage } from './storage.ts'

/** Data of a sign-in that this tab stores during the redirect. */
type StoredRedirectState = RequestState & { state: string; redirectUri: string }

/** Data of the request, and the maximum age of the authentication, if requested. */
type RequestState = PkceState & { maxAge?: number | undefined }

type RedirectOptions = { parameters: Record<string, string>; signal: AbortSignal | undefined }

/** The validated response. The app key is encrypted to this browser. */
export type RedirectResult = { grant: SignInGrant; sealedAppKey: string | undefined } | 'declined'

const answered = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']

/**
 * Redirects the browser to the sign-in page (RFC 6749 §4.1.1). The page and its pending promises end with that. If the
 * user stops the navigation or comes back with the back button, the page is as before and the result is `declined`.
 */
export async function redirectToSignIn(
  app: ResolvedClientConfig,
  requestState: RequestState,
  requested: RedirectOptions,
): Promise<'declined'> {
  const state = randomText()
  const { issuer, clientId, redirectUri, scope } = app
  const url = new URL('/signin', issuer)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    nonce: requestState.nonce,
    code_challenge: await challengeOf(requestState),
    code_challenge_method: 'S256',
    ...requested.parameters,
  }).toString()
  requested.signal?.throwIfAborted()
  tabStorage().setItem(
    storageKeyOf(app),
    JSON.stringify({ ...requestState, state, redirectUri } satisfies StoredRedirectState),
  )
  location.assign(url)
  return untilShownAgain(requested.signal)
}

function untilShownAgain(signal: AbortSignal | undefined): Promise<'declined'> {
  const ended = new AbortController()
  const whileWaiting = { signal: ended.signal }
  return new Promise<'declined'>((resolve, reject) => {
    const show = ({ persisted }: PageTransitionEvent) => persisted && resolve('declined')
    addEventListener('pageshow', show, whileWaiting)
    // Browsers without it leave the page waiting.
    if ('navigation' in globalThis)
      navigation.addEventListener('navigateerror', () => resolve('declined'), whileWaiting)
    signal?.addEventListener('abort', () => reject(signal.reason), whileWaiting)
  }).finally(() => ended.abort())
}

/**
 * Removes the response of a redirect from the URL, once. Returns undefined if there is none for this app. Throws
 * `state_mismatch` for a response that this tab has not requested: an attacker could use such a URL to sign the user in
 * as themselves (RFC 6749 §10.12).
 */
export function consumeRedirectResult(app: ResolvedClientConfig): RedirectResult | undefined {
  const answer = new URL(location.href).searchParams
  const [code, state, error] = [answer.get('code'), answer.get('state'), answer.get('error')]
  if (state === null || (code === null && error === null)) return undefined
  const stored = consumeStoredState(app, state)
  const isOurs = answer.get('iss') === app.issuer
  if (!stored && !isOurs) return undefined
  const sealedAppKey = parseSealedFragment(location.hash.slice(1))
  cleanAddress()
  if (!stored) throw new CountersignError(stateMismatch)
  // RFC 9207 §2.4: another service could have been made to respond instead.
  if (!isOurs) throw new CountersignError(anotherIssuer)
  if (error === 'access_denied') return 'declined'
  if (error !== null) throw refusalOf(error, answer.get('error_description'))
  const { codeVerifier, nonce, redirectUri, maxAge } = stored
  const grant = { code: code ?? '', redirectUri, codeVerifier, nonce, ...(maxAge !== undefined && { maxAge }) }
  return { grant, sealedAppKey }
}

const stateMismatch = {
  code: 'state_mismatch',
  description: 'The sign-in response does not match a request from this tab.',
}
const anotherIssuer = { code: 'unexpected_response', description: 'The response comes from an unexpected issuer.' }

function refusalOf(code: string, description: string | null): CountersignError {
  return new CountersignError({ code, description: description ?? code })
}

function consumeStoredState(app: ResolvedClientConfig, state: string): StoredRedirectState | undefined {
  const stored = parseStoredState(tabStorage().getItem(storageKeyOf(app)))
  if (stored?.state !== state) return undefined
  tabStorage().removeItem(storageKeyOf(app))
  return stored
}

function parseStoredState(kept: string | null): StoredRedirectState | undefined {
  const stored: unknown = JSON.parse(kept ?? 'null')
  if (!isRecord(stored)) return undefined
  const { state, codeVerifier, nonce, redirectUri, maxAge } = stored
  if (typeof state !== 'string' || typeof codeVerifier !== 'string') return undefined
  if (typeof nonce !== 'string' || typeof redirectUri !== 'string') return undefined
  return { state, codeVerifier, nonce, redirectUri, ...(isMaxAge(maxAge) && { maxAge }) }
}

/** A tab has one sign-in in progress for an app. Starting another one replaces the first. */
function storageKeyOf({ clientId }: ResolvedClientConfig): string {
  return `countersign:${clientId}`
}

/** The response can be used once, and must not stay in the history. */
function cleanAddress(): void {
  const clean = new URL(location.href)
  for (const name of answered) clean.searchParams.delete(name)
  if (clean.hash.startsWith('#app_key')) clean.hash = ''
  history.replaceState(history.state, '', clean)
}
