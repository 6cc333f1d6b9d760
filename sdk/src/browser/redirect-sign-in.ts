import { readSealedFragment } from '@countersign/protocol/formats/encryption/app-key-fragment'
import { CountersignError } from '../shared/error.ts'
import { isRecord } from '../shared/exchange.ts'
import { challengeOf, isMaxAge, randomText, type Grant, type Proof } from '../server/grant.ts'
import type { CheckedApp } from './sign-in-app.ts'
import { tabStorage } from './storage.ts'

/** What this tab keeps of a sign-in while the person is away. */
type Begun = Asked & { state: string; redirectUri: string }

/** What the page knows of its request, and how old the authentication may be at most, where it asked for that. */
type Asked = Proof & { maxAge?: number | undefined }

type Wanted = { parameters: Record<string, string>; signal: AbortSignal | undefined }

/** What came back, judged. The key of the app is sealed to this browser. */
export type Returned = { grant: Grant; sealedAppKey: string | undefined } | 'declined'

const answered = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']

/**
 * Sends the browser to the page to sign in (RFC 6749 §4.1.1). This page goes with that, and what is awaited of it;
 * where the person stops the browser, or comes back by its button, it is as they left it, and they have declined.
 */
export async function leaveToSignIn(app: CheckedApp, asked: Asked, wanted: Wanted): Promise<'declined'> {
  const state = randomText()
  const { issuer, clientId, redirectUri, scope } = app
  const url = new URL('/signin', issuer)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    nonce: asked.nonce,
    code_challenge: await challengeOf(asked),
    code_challenge_method: 'S256',
    ...wanted.parameters,
  }).toString()
  wanted.signal?.throwIfAborted()
  tabStorage().setItem(placeOf(app), JSON.stringify({ ...asked, state, redirectUri } satisfies Begun))
  location.assign(url)
  return untilShownAgain(wanted.signal)
}

function untilShownAgain(signal: AbortSignal | undefined): Promise<'declined'> {
  const ended = new AbortController()
  const whileWaiting = { signal: ended.signal }
  return new Promise<'declined'>((resolve, reject) => {
    const show = ({ persisted }: PageTransitionEvent) => persisted && resolve('declined')
    addEventListener('pageshow', show, whileWaiting)
    // Browsers without it leave the page to wait.
    if ('navigation' in globalThis)
      navigation.addEventListener('navigateerror', () => resolve('declined'), whileWaiting)
    signal?.addEventListener('abort', () => reject(signal.reason), whileWaiting)
  }).finally(() => ended.abort())
}

/**
 * Takes the answer of a redirect out of the address, once. Undefined where there is none for this app. Throws
 * `not_begun_here` for one that this tab has not asked for: anybody can make up such an address, and sign somebody in
 * as themselves by it (RFC 6749 §10.12).
 */
export function takeReturned(app: CheckedApp): Returned | undefined {
  const answer = new URL(location.href).searchParams
  const [code, state, error] = [answer.get('code'), answer.get('state'), answer.get('error')]
  if (state === null || (code === null && error === null)) return undefined
  const begun = takeBegun(app, state)
  const isOurs = answer.get('iss') === app.issuer
  if (!begun && !isOurs) return undefined
  const sealedAppKey = readSealedFragment(location.hash.slice(1))
  cleanAddress()
  if (!begun) throw new CountersignError(notBegunHere)
  // RFC 9207 §2.4: another service could have been made to answer in its place.
  if (!isOurs) throw new CountersignError(anotherIssuer)
  if (error === 'access_denied') return 'declined'
  if (error !== null) throw refusalOf(error, answer.get('error_description'))
  const { codeVerifier, nonce, redirectUri, maxAge } = begun
  const grant = { code: code ?? '', redirectUri, codeVerifier, nonce, ...(maxAge !== undefined && { maxAge }) }
  return { grant, sealedAppKey }
}

const notBegunHere = { code: 'not_begun_here', description: 'This sign-in was not begun in this tab.' }
const anotherIssuer = { code: 'unexpected_answer', description: 'Another service answered than was asked.' }

function refusalOf(code: string, description: string | null): CountersignError {
  return new CountersignError({ code, description: description ?? code })
}

function takeBegun(app: CheckedApp, state: string): Begun | undefined {
  const begun = readBegun(tabStorage().getItem(placeOf(app)))
  if (begun?.state !== state) return undefined
  tabStorage().removeItem(placeOf(app))
  return begun
}

function readBegun(kept: string | null): Begun | undefined {
  const begun: unknown = JSON.parse(kept ?? 'null')
  if (!isRecord(begun)) return undefined
  const { state, codeVerifier, nonce, redirectUri, maxAge } = begun
  if (typeof state !== 'string' || typeof codeVerifier !== 'string') return undefined
  if (typeof nonce !== 'string' || typeof redirectUri !== 'string') return undefined
  return { state, codeVerifier, nonce, redirectUri, ...(isMaxAge(maxAge) && { maxAge }) }
}

/** A tab has one sign-in under way with an app: whoever begins another has given up the first. */
function placeOf({ clientId }: CheckedApp): string {
  return `countersign:${clientId}`
}

/** What came is of use once, and nobody's to read in the history. */
function cleanAddress(): void {
  const clean = new URL(location.href)
  for (const name of answered) clean.searchParams.delete(name)
  if (clean.hash.startsWith('#app_key')) clean.hash = ''
  history.replaceState(history.state, '', clean)
}
