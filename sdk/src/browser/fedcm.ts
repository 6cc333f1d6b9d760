import { isCompactJwe } from '@countersign/protocol/formats/compact-jwe'
import { parseJsonObject } from '@countersign/protocol/formats/json'
import { CountersignError } from '../shared/error.ts'
import { isRecord } from '../shared/exchange.ts'
import type { ResolvedClientConfig } from './sign-in.ts'

/** Options of the browser API (Federated Credential Management, §2.2). */
export type FedcmRequest = {
  mode: 'active' | 'passive'
  loginHint: string | undefined
  domainHint: string | undefined
  signal: AbortSignal | undefined
  /** Parameters for Countersign, with the names of its interface. */
  params: Record<string, string>
}

type Answered = { token: string }

/**
 * Asks the user in a dialog of the browser. Returns `unsupported` if the browser has none for this page, and `declined`
 * if no user signed in; browsers hide if the dialog was closed or could not be shown. Throws CountersignError with the
 * error code of Countersign.
 */
export async function requestFedcmCredential(
  app: ResolvedClientConfig,
  options: FedcmRequest,
): Promise<Answered | 'declined' | 'unsupported'> {
  const given = new AbortController()
  const signal = AbortSignal.any(options.signal ? [options.signal, given.signal] : [given.signal])
  try {
    const identity = requestOf(app, options)
    // A key is unlocked in a window, which a browser that signs users in automatically would open unexpectedly.
    const mediation = app.takesKey ? 'required' : 'optional'
    const credentialRequest = navigator.credentials.get({ ...identity.request, mediation, signal })
    if (!identity.isRead()) given.abort()
    return tokenIn(await credentialRequest)
  } catch (error) {
    options.signal?.throwIfAborted()
    return meaningOf(error)
  }
}

/**
 * A browser that does not read `mode` does not support it or `params`, which was added with it, and would request no
 * scopes.
 */
function requestOf({ base, clientId }: ResolvedClientConfig, { mode, loginHint, domainHint, params }: FedcmRequest) {
  let isRead = false
  const hints = { ...(loginHint !== undefined && { loginHint }), ...(domainHint !== undefined && { domainHint }) }
  // The user reads what is shared in the Countersign window, before giving consent.
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
  code: 'unexpected_response',
  description: 'The browser returned an unexpected credential.',
}

/** Reads the browser's error (FedCM §2.2.3), which contains little to protect users from tracking. */
function meaningOf(error: unknown): 'declined' | 'unsupported' {
  if (!(error instanceof DOMException)) throw error
  if (error.name === 'IdentityCredentialError') throw refusalIn(error)
  if (error.name === 'NetworkError') return 'declined'
  // Not in this frame, not without a click, or not next to another dialog: limits that a redirect does not have.
  if (error.name === 'NotAllowedError' || error.name === 'AbortError') return 'unsupported'
  throw new CountersignError(unexpected, { cause: error })
}

/** Chromium before 143 has the code under another name. */
function refusalIn(error: DOMException): CountersignError {
  const names: unknown[] = [Reflect.get(error, 'error'), Reflect.get(error, 'code')]
  const code = names.find((name) => typeof name === 'string' && name !== '')
  if (typeof code !== 'string') return new CountersignError(unexplained, { cause: error })
  return new CountersignError({ code, description: 'Countersign rejected the sign-in.' }, { cause: error })
}

const unexplained = {
  code: 'fedcm_rejected',
  description:
    "Countersign rejected the request without a reason: check that the page's origin is that of a redirect URI.",
}

/** Returns the app key in an assertion, encrypted to the app's server. The other claims are for who redeems it. */
export function sealedKeyIn(assertion: string): string | undefined {
  const [, payload = ''] = assertion.split('.')
  const key = parseJsonObject(payload)?.['app_key']
  return typeof key === 'string' && isCompactJwe(key) ? key : undefined
}

/**
 * Disconnects the app from an identity in this browser and deletes all data for the app, including its key, as if the
 * user had done it at Countersign. Returns false if the browser does not support its own dialogs, the identity is not
 * in it, or the identity has not connected the app.
 */
export async function fedcmDisconnect({ base, clientId }: ResolvedClientConfig, identityId: string): Promise<boolean> {
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
