import { CountersignError } from '../shared/error.ts'
import { isRecord } from '../shared/exchange.ts'
import type { CheckedApp } from './sign-in-app.ts'

/** What the browser itself is asked for (Federated Credential Management, §2.2). */
export type FederatedWish = {
  mode: 'active' | 'passive'
  loginHint: string | undefined
  domainHint: string | undefined
  signal: AbortSignal | undefined
  /** What Countersign is asked, by the names of its interface. */
  params: Record<string, string>
}

type Answered = { token: string }

/**
 * Lets the browser ask the person in a dialog of its own. `unsupported` where it has none for this page, and `declined`
 * where nobody has signed in: a browser keeps to itself whether they closed the dialog or it could not be shown. Throws
 * CountersignError with the code with which Countersign refused.
 */
export async function askBrowser(app: CheckedApp, wish: FederatedWish): Promise<Answered | 'declined' | 'unsupported'> {
  const given = new AbortController()
  const signal = AbortSignal.any(wish.signal ? [wish.signal, given.signal] : [given.signal])
  try {
    const identity = requestOf(app, wish)
    const asked = navigator.credentials.get({ ...identity.request, mediation: 'optional', signal })
    if (!identity.isRead()) given.abort()
    return tokenIn(await asked)
  } catch (error) {
    wish.signal?.throwIfAborted()
    return meaningOf(error)
  }
}

/** A browser that never reads `mode` knows neither it nor `params`, which came with it, and would ask for nothing. */
function requestOf({ base, clientId }: CheckedApp, { mode, loginHint, domainHint, params }: FederatedWish) {
  let isRead = false
  const hints = { ...(loginHint !== undefined && { loginHint }), ...(domainHint !== undefined && { domainHint }) }
  // What is shared the person reads where they agree to it, in the window of Countersign.
  const provider = { configURL: configUrl(base), clientId, params, fields: [], ...hints }
  const identity = {
    providers: [provider],
    get mode() {
      isRead = true
      return mode
    },
  }
  return { request: { identity }, isRead: () => isRead }
}

function tokenIn(credential: unknown): Answered | 'declined' {
  if (credential === null) return 'declined'
  if (!isRecord(credential) || typeof credential['token'] !== 'string') throw new CountersignError(unexpected)
  return { token: credential['token'] }
}

const unexpected = {
  code: 'unexpected_answer',
  description: 'The browser answered with something that is not of the interface.',
}

/** What a browser tells (FedCM §2.2.3): little, so that no page learns of a person who does not want it to. */
function meaningOf(error: unknown): 'declined' | 'unsupported' {
  if (!(error instanceof DOMException)) throw error
  if (error.name === 'IdentityCredentialError') throw refusalIn(error)
  if (error.name === 'NetworkError') return 'declined'
  // Not in this frame, not without a click, not beside another question: what does not hold for a redirect.
  if (error.name === 'NotAllowedError' || error.name === 'AbortError') return 'unsupported'
  throw new CountersignError(unexpected, { cause: error })
}

/** Chromium before 143 has the code by another name. */
function refusalIn(error: DOMException): CountersignError {
  const names: unknown[] = [Reflect.get(error, 'error'), Reflect.get(error, 'code')]
  const code = names.find((name) => typeof name === 'string' && name !== '')
  if (typeof code !== 'string') return new CountersignError(unexplained, { cause: error })
  return new CountersignError({ code, description: 'Countersign refused the sign-in.' }, { cause: error })
}

const unexplained = {
  code: 'refused',
  description: "Countersign refused, and tells no page why that isn't the app's: is its origin that of a redirect URI?",
}

/**
 * Disconnects the app from an identity of this browser, which ends all that the app has of it, its key too: as if the
 * person had done so at Countersign. Answers false where the browser has no dialogs of its own, that identity is not in
 * it, or has not connected the app.
 */
export async function disconnectByBrowser({ base, clientId }: CheckedApp, identityId: string): Promise<boolean> {
  const credential: unknown = Reflect.get(globalThis, 'IdentityCredential')
  const disconnect: unknown = typeof credential === 'function' ? Reflect.get(credential, 'disconnect') : undefined
  if (typeof disconnect !== 'function') return false
  try {
    await Reflect.apply(disconnect, credential, [{ configURL: configUrl(base), clientId, accountHint: identityId }])
    return true
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NetworkError') return false
    throw error
  }
}

function configUrl(base: URL): string {
  return new URL('/api/oauth/fedcm/config', base).href
}
