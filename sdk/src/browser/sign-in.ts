import { parseBaseUrl } from '../shared/error.ts'
import { newEphemeralKey } from '../encryption/ephemeral-key.ts'
import { fedcmDisconnect, requestFedcmCredential, sealedKeyIn } from './fedcm.ts'
import {
  type PkceState,
  type Redemption,
  type SignInGrant,
  type SignInTokens,
  challengeOf,
  createPkceState,
  exchangeGrant,
  isMaxAge,
} from '../server/sign-in-exchange.ts'
import { cannotOpen } from '../encryption/jwe.ts'
import { consumeRedirectResult, redirectToSignIn } from './redirect-sign-in.ts'

/** An app on its own page, and its Countersign instance. */
export type ClientConfig = {
  /** The API host, such as `https://api.id.example`. */
  baseUrl: string
  /** The issuer, whose pages users see, such as `https://id.example`. */
  authUrl: string
  clientId: string
  /** The redirect URI, exactly as registered, of a page that completes the sign-in. */
  redirectUri: string
  /** Scopes separated by spaces, with `openid` among them. Default: `openid profile`. */
  scope?: string | undefined
  /**
   * Set for an app with end-to-end encryption: then each sign-in brings the app key, or fails. Such a sign-in uses a
   * redirect, unless `appKeyRecipientJwk` is set.
   */
  appKey?: boolean | undefined
  /**
   * Public key of the app's server, as registered with the app. With it, the app key is always encrypted to that
   * server, which decrypts it with `openAppKey`. FedCM then brings the key too, once a redirect has bound it to
   * the server.
   */
  appKeyRecipientJwk?: string | undefined
}

/** The validated settings of an app. */
export type ResolvedClientConfig = {
  base: URL
  issuer: string
  clientId: string
  redirectUri: string
  scope: string
  takesKey: boolean
  appKeyRecipientJwk: string | undefined
}

/** Throws a TypeError for settings with which no sign-in is possible. */
function checkApp({
  baseUrl,
  authUrl,
  clientId,
  redirectUri,
  scope,
  appKey,
  ...rest
}: ClientConfig): ResolvedClientConfig {
  if (!clientId) throw new TypeError('clientId must be the ID of the registered app')
  const scopes = scope ?? 'openid profile'
  if (!scopes.split(' ').includes('openid')) throw new TypeError('scope must contain openid, which identifies the user')
  // Only a check: the service compares texts, and a parsed origin ends with a slash that may not be registered.
  void new URL(redirectUri)
  return {
    base: parseBaseUrl('baseUrl', baseUrl),
    issuer: parseBaseUrl('authUrl', authUrl).origin,
    clientId,
    redirectUri,
    scope: scopes,
    takesKey: appKey ?? false,
    appKeyRecipientJwk: rest.appKeyRecipientJwk,
  }
}

export { CountersignError } from '../shared/error.ts'
export type { SignInGrant } from '../server/sign-in-exchange.ts'
export type { SignInTokens } from '../server/sign-in-exchange.ts'

/** Options of one sign-in. */
export type SignInOptions = {
  /**
   * Default `active`: the user has pressed something, and is redirected to the sign-in page if the browser has no
   * dialog. `passive`: the user has not; the browser can show a small dialog, and nothing else happens.
   */
  mode?: 'active' | 'passive' | undefined
  /** Skips the dialog of the browser. */
  via?: 'redirect' | undefined
  /** Username or e-mail address of the expected user. */
  loginHint?: string | undefined
  /** Domain of the user's e-mail address. A redirect has no such hint. */
  domainHint?: string | undefined
  /**
   * Organization of the user. FedCM does not support organizations, so it always uses a redirect. `exchangeSignIn` must
   * get it too.
   */
  organizationId?: string | undefined
  /** `login`, `consent` or `select_account` (OpenID Connect Core §3.1.2.1). */
  prompt?: string | undefined
  /**
   * Maximum age of the user's authentication in seconds. Default with the prompt `login`: 0. It uses a redirect, and
   * `exchangeSignIn` verifies it. A server that relies on it must pass it there too.
   */
  maxAge?: number | undefined
  /** Stops waiting and closes the dialog. */
  signal?: AbortSignal | undefined
}

export type SignInResult =
  | {
      type: 'signed-in'
      /** Pass it to `exchangeSignIn`: here for a public app, on the server for any other. */
      grant: SignInGrant
      /**
       * The user's app key, if the app uses one: for `decryptAppKey` of `@countersign/sdk/encryption`, or with
       * `appKeyRecipientJwk` for `openAppKey` on the app's server.
       */
      sealedAppKey: string | undefined
    }
  /**
   * No user has signed in. The user closed the dialog, went back or denied the request, or the browser showed nothing.
   */
  | { type: 'declined' }
  /**
   * The sign-in was passive, and the browser has no dialog, or its dialog brought no app key: the key is not bound to
   * the app's server yet. An active sign-in then uses a redirect.
   */
  | { type: 'unsupported' }

/**
 * Signs a user in. If a redirect of this tab has just come back, that is the result. Otherwise the browser asks the
 * user in a dialog (FedCM). A browser without that dialog is redirected to the sign-in page and back to `redirectUri`.
 * An app with an app key uses the redirect, unless the key is encrypted to its server (`appKeyRecipientJwk`); if the
 * dialog then brings no key, because none is bound to the server yet, a redirect follows. The page and its pending
 * promise end
 * with a redirect; then `handleRedirectCallback` or `signIn` itself returns the result on the redirect page. Throws
 * CountersignError if the service rejects the request or the response is invalid, and the reason of `signal`.
 */
export async function signIn(app: ClientConfig, requested: SignInOptions = {}): Promise<SignInResult> {
  const returned = await handleRedirectCallback(app)
  if (returned) return returned
  requested.signal?.throwIfAborted()
  const maxAge = maxAgeOf(requested)
  const isByDialog = maxAge === undefined && isForDialog(app, requested)
  if (!isByDialog && requested.mode === 'passive') return unsupported
  const checked = checkApp(app)
  const proof = createPkceState()
  const result = isByDialog ? await requestInDialog(checked, requested, proof) : unsupported
  if (result.type !== 'unsupported' || requested.mode === 'passive') return result
  const { loginHint, organizationId, prompt, signal } = requested
  const appKeyJwk = checked.takesKey ? (checked.appKeyRecipientJwk ?? (await newEphemeralKey())) : undefined
  const parameters = given({
    login_hint: loginHint,
    organization_id: organizationId,
    prompt,
    max_age: maxAge?.toString(),
    app_key_jwk: appKeyJwk,
  })
  return { type: await redirectToSignIn(checked, { ...proof, maxAge }, { parameters, signal }) }
}

/**
 * Completes a sign-in that this tab started with a redirect. Call it on the page at `redirectUri` when the page loads.
 * It removes the response from the URL. Returns undefined and changes nothing if the URL contains none. Throws
 * CountersignError: `state_mismatch` for a response that this tab has not requested, `decryption_failed` if an app with
 * end-to-end encryption got no key, and the errors of the service.
 */
export async function handleRedirectCallback(app: ClientConfig): Promise<SignInResult | undefined> {
  const checked = checkApp(app)
  const returned = consumeRedirectResult(checked)
  if (returned === undefined) return undefined
  if (returned === 'declined') return { type: 'declined' }
  return signedIn(checked, returned.grant, returned.sealedAppKey)
}

/**
 * Exchanges a sign-in for tokens as a public app, once and within a minute; the code verifier is its proof. Any other
 * app passes the grant to its server, where `createCountersign` has the same function. Throws CountersignError:
 * `invalid_grant`, `invalid_token`, `authentication_too_old`, `other_organization`.
 */
export async function exchangeSignIn(
  app: ClientConfig,
  grant: SignInGrant,
  options: Redemption = {},
): Promise<SignInTokens> {
  const { base, issuer, clientId } = checkApp(app)
  return exchangeGrant({ base, issuer: new URL(issuer), clientId }, grant, options)
}

/**
 * Disconnects the app from an identity that is signed in in this browser, and deletes all data for the app. The app key
 * is lost for good, so ask the user first. Returns false if that was not done: in a browser without FedCM the user
 * disconnects the app at Countersign.
 */
export async function disconnect(app: ClientConfig, identityId: string): Promise<boolean> {
  return fedcmDisconnect(checkApp(app), identityId)
}

function maxAgeOf({ prompt, maxAge }: SignInOptions): number | undefined {
  if (maxAge !== undefined && !isMaxAge(maxAge)) throw new TypeError('maxAge must be a whole number of seconds')
  return maxAge ?? (prompt?.split(' ').includes('login') ? 0 : undefined)
}

const unsupported = { type: 'unsupported' } as const

function isForDialog({ appKey, appKeyRecipientJwk }: ClientConfig, { via, organizationId }: SignInOptions): boolean {
  if ((appKey && appKeyRecipientJwk === undefined) || via === 'redirect' || organizationId !== undefined) return false
  return 'IdentityCredential' in globalThis
}

async function requestInDialog(
  app: ResolvedClientConfig,
  requested: SignInOptions,
  proof: PkceState,
): Promise<SignInResult> {
  const { mode = 'active', loginHint, domainHint, prompt, signal } = requested
  const appKeyJwk = app.takesKey ? app.appKeyRecipientJwk : undefined
  const sent = { scope: app.scope, nonce: proof.nonce, codeChallenge: await challengeOf(proof), prompt, appKeyJwk }
  const answer = await requestFedcmCredential(app, { mode, loginHint, domainHint, signal, params: given(sent) })
  if (typeof answer === 'string') return { type: answer }
  const sealedAppKey = app.takesKey ? sealedKeyIn(answer.token) : undefined
  if (app.takesKey && sealedAppKey === undefined) return unsupported
  return { type: 'signed-in', grant: { assertion: answer.token, ...proof }, sealedAppKey }
}

/** An attacker who wants to read along would send an unencrypted key, or none. */
function signedIn(
  { takesKey }: ResolvedClientConfig,
  grant: SignInGrant,
  sealedAppKey: string | undefined,
): SignInResult {
  if (takesKey && sealedAppKey === undefined) throw cannotOpen()
  return { type: 'signed-in', grant, sealedAppKey: takesKey ? sealedAppKey : undefined }
}

function given(parameters: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).flatMap(([name, value]) => (value ? [[name, value]] : [])))
}
