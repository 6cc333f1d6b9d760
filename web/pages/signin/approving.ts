import type { Identity } from '@countersign/protocol/accounts/identities'
import type {
  AuthorizationResponse,
  Connector,
  ConnectorUnavailableReason,
  SignInView,
} from '@countersign/protocol/pages'
import { ApiError, call } from '../../lib/api/call.ts'
import type { MasterKey } from '@countersign/keys/master-key'
import type { ResponseOf } from '@countersign/protocol/api'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { submitRedirect } from '../../lib/navigation.ts'
import { type SignedIn, reauthenticate, withRecentAuthentication } from '../../lib/keys/passkey.ts'
import { grantableScopes } from '../../lib/text/scope-words.ts'
import { matchesRequest, leadsTo } from './requested-target.ts'
import { scopeTextOf } from './consent/delegating.ts'
import { type Approving, type Event, type Grant, type Step, canApprove, isSettled } from './steps.ts'

/**
 * Exchanges the authorization response for a FedCM assertion. Returns the URL of the page that gives the assertion to
 * the browser, with the assertion in its fragment. If the request has expired, that page reports it, because the user
 * can do nothing about it here.
 */
async function resolveFedcm(
  { app, redirectUri }: Pick<SignInView, 'app' | 'redirectUri'>,
  { identityId }: Identity,
  { url }: AuthorizationResponse,
): Promise<AuthorizationResponse> {
  const { searchParams } = new URL(url)
  const body = {
    code: searchParams.get('code') ?? '',
    state: searchParams.get('state') ?? '',
    clientId: app.clientId,
  }
  try {
    const { assertion } = await call('POST /api/oauth/fedcm/finalize', { body })
    return { url: `${redirectUri}#${new URLSearchParams({ assertion, account: identityId })}` }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_grant') throw error
    return { url: new URL('error?code=expired', redirectUri).href }
  }
}

const loadVault = () => import('../../lib/keys/key-vault.ts')
const loadAppKey = () => import('./consent/app-key.ts')

/** The signed-in user, and their master key from its unlocking until the user leaves. */
export type Owner = { userId: string; masterKey?: MasterKey }

type ApprovalDeps = { step: () => Step; owner: { current: Owner | undefined } }
type Flow = {
  advance: (event: Event) => Promise<void>
  whileSignedIn: <T>(work: () => Promise<T>) => Promise<T | undefined>
}

/** The actions that take the user back to the app, with the app key if the app requests one. */
export function useApproval(view: SignInView, place: ApprovalDeps, { advance, whileSignedIn }: Flow) {
  /** The passkey that signed the user in may have unlocked their keys too. */
  async function signedIn({ user, identities, keyWraps, used }: SignedIn) {
    const masterKey = view.key && (await (await loadVault()).unlockWithPasskey(keyWraps, used, user.userId))
    place.owner.current = { ...user, ...(masterKey && { masterKey }) }
    await advance({ type: 'signed in', identities })
  }

  /** Continues if there is nothing to consent to. Locked keys need another assertion, which the page asks for. */
  async function goOn() {
    if (!view.key || place.owner.current?.masterKey) return approve()
    await advance({ type: 'keys needed' })
    const shut = await whileSignedIn(readKeyWraps)
    if (shut && !shut.some(({ kind }) => kind === 'passkey_prf'))
      await advance({ type: 'keys are shut', keyWraps: shut })
  }

  async function approve() {
    if (!mayHandOver()) return
    const masterKey = view.key && (place.owner.current?.masterKey ?? (await whileSignedIn(unlock)))
    if (!view.key || masterKey) await approveWith(masterKey)
  }

  /** Unlocks the keys with a passkey, or else asks for the recovery code. */
  async function unlock(): Promise<MasterKey | undefined> {
    const { masterKey, keyWraps } = await openWithPresence(place.owner.current?.userId ?? '', view.requestUri)
    if (!masterKey) await advance({ type: 'keys are shut', keyWraps })
    return masterKey
  }

  async function useCode() {
    const keyWraps = await whileSignedIn(readKeyWraps)
    if (keyWraps) await advance({ type: 'keys are shut', keyWraps })
  }

  /** Approves the request, without keys if the app takes none. The keys are discarded afterwards. */
  async function approveWith(masterKey: MasterKey | undefined) {
    const approving = place.step()
    if (!canApprove(approving) || !mayHandOver()) return
    if (place.owner.current && masterKey) place.owner.current = { ...place.owner.current, masterKey }
    const agree = () => withRecentAuthentication(() => consent(view, approving, masterKey), view.requestUri)
    const outcome = await whileSignedIn(() => agree().catch((error: unknown) => endBy(error, view)))
    if (!outcome) return
    if (typeof outcome === 'string') return advance({ type: 'withdrawn', why: outcome })
    forgetKeys()
    if ('ledTo' in outcome) return advance({ type: 'led elsewhere', to: outcome.ledTo })
    await advance({ type: 'approved' })
    submitRedirect(outcome)
  }

  /** Returns whether the app key would go to the recipient in the app's own request. Otherwise the flow stops. */
  function mayHandOver(): boolean {
    if (!view.key || matchesRequest(view, location.search)) return true
    void advance({ type: 'led elsewhere', to: view.redirectUri })
    return false
  }

  function forgetKeys() {
    place.owner.current?.masterKey?.forget()
    if (place.owner.current) place.owner.current = { userId: place.owner.current.userId }
  }

  return { signedIn, goOn, approve, approveWith, useCode, forgetKeys }
}

/** Maps a rejected consent. If prompts are forbidden and the sign-in is too old, the browser returns to the app. */
function endBy(error: unknown, view: SignInView): ConnectorUnavailableReason | AuthorizationResponse {
  const tooOld = error instanceof ApiError && error.code === 'login_required'
  return tooOld && view.silently ? view.silently.login_required : withdrawalBy(error, view)
}

/** Returns why a consent came too late: the other app no longer offers what was requested. */
function withdrawalBy(error: unknown, { connector }: SignInView): ConnectorUnavailableReason {
  if (!connector || !(error instanceof ApiError)) throw error
  if (error.code !== 'invalid_target' && error.code !== 'invalid_scope') throw error
  return error.code
}

/**
 * Sends the consent. Returns the URL to go to, with the app key in its fragment. If the server returns another URL than
 * the redirect URI, the key is not sent and that URL is returned.
 */
async function consent(
  view: SignInView,
  { identity, grant }: Approving,
  masterKey: MasterKey | undefined,
): Promise<AuthorizationResponse | { ledTo: string }> {
  const { key, app } = view
  const { organization } = grant
  const body = {
    ...requestOf(view, identity),
    ...(organization && { organizationId: organization.id }),
    ...accessOf(view, grant),
  }
  if (!key || !masterKey) {
    const leaving = leavingOf(await call('POST /api/oauth/authorize', { body }))
    return view.givenTo === undefined ? leaving : resolveFedcm(view, identity, leaving)
  }
  const { newKeyFor, fragmentOf } = await loadAppKey()
  const place = { identityId: identity.identityId, clientId: app.clientId }
  const made = grant.hasKey && !key.reset ? {} : await newKeyFor(masterKey, place, key)
  const answer = await call('POST /api/oauth/authorize', { body: { ...body, ...made } })
  if (!leadsTo(answer.redirectUrl, view.redirectUri)) return { ledTo: answer.redirectUrl }
  return { url: `${answer.redirectUrl}#${await fragmentOf(masterKey, place, answer, key)}` }
}

/** Returns the access to organizations if the user has seen that choice. Otherwise the previous choice stays. */
function accessOf(view: SignInView, grant: Grant) {
  if (!view.organizationAccess || grant.organizationAccess === undefined || isSettled(grant, view)) return {}
  return { organizationAccess: grant.organizationAccess ? view.organizationAccess : ('none' as const) }
}

function leavingOf({ redirectUrl, formFields }: ResponseOf<'POST /api/oauth/authorize'>): AuthorizationResponse {
  return { url: redirectUrl, ...(formFields && { fields: formFields }) }
}

async function readKeyWraps(): Promise<KeyWrap[]> {
  return (await call('GET /api/account/key-wraps', {})).keyWraps
}

/**
 * Unlocks the keys with an assertion that also re-authenticates the user, because a new key requires that. Without a
 * passkey that unlocks keys, returns the key wraps and asks for no assertion.
 */
async function openWithPresence(
  userId: string,
  requestUri: string | undefined,
): Promise<{ keyWraps: KeyWrap[]; masterKey?: MasterKey }> {
  const [vault, keyWraps] = await Promise.all([loadVault(), readKeyWraps()])
  if (!keyWraps.some(({ kind }) => kind === 'passkey_prf')) return { keyWraps }
  const used = await reauthenticate(await vault.prfSalt(), { requestUri })
  const masterKey = await vault.unlockWithPasskey(keyWraps, used, userId)
  return { keyWraps, ...(masterKey && { masterKey }) }
}

function requestOf(view: SignInView, identity: Identity) {
  const {
    app,
    redirectUri,
    state,
    nonce,
    codeChallenge,
    prompts,
    maxAgeSeconds,
    formPost,
    requestUri,
    key,
    connector,
    givenTo,
  } = view
  const shared = grantableScopes(view.scope, identity)
  const withheld = view.scope.filter((each) => !shared.includes(each))
  const scope = [...shared, ...(key?.reset ? ['e2ee:reset'] : [])]
  return {
    clientId: app.clientId,
    redirectUri,
    identityId: identity.identityId,
    scope: scope.join(' '),
    ...(withheld.length > 0 && { withheldScope: withheld.join(' ') }),
    ...(state !== undefined && { state }),
    ...(nonce !== undefined && { nonce }),
    ...(codeChallenge !== undefined && { codeChallenge, codeChallengeMethod: 'S256' }),
    ...(prompts.length > 0 && { prompt: prompts.join(' ') }),
    ...(maxAgeSeconds !== undefined && { maxAge: maxAgeSeconds }),
    ...(givenTo !== undefined && { fedcmContinue: true }),
    ...(formPost && { responseMode: 'form_post' }),
    ...(requestUri !== undefined && { requestUri }),
    ...(connector && connectorOf(connector)),
  }
}

/** Returns exactly what the user has seen. */
function connectorOf(connector: Connector) {
  return {
    connector: true,
    requestedResource: connector.resourceKey,
    requestedResourceId: connector.resourceId,
    requestedScope: scopeTextOf(connector),
    communicationMode: connector.mode,
  }
}
