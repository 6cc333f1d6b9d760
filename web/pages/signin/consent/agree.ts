import type { MasterKey } from '@countersign/keys/master-key'
import type { ResponseOf } from '@countersign/protocol/api'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { redirectTargetOf } from '@countersign/protocol/formats/encryption/app-key-envelope'
import type { AuthorizationResponse, Connector, SignInView } from '@countersign/protocol/pages'
import { ApiError, call } from '../../../lib/api/call.ts'
import { grantableScopes } from '../../../lib/text/scope-words.ts'
import { leadsTo, requestedTarget } from '../requested-target.ts'
import { type Approving, type Grant, type Step, isSettled } from '../steps.ts'
import type { AppKeyOwner } from './app-key.ts'
import { scopeTextOf } from './delegating.ts'
import { newPlaceOf, type NewPlace, type StoredAppKey } from './delivery.ts'

const loadAppKey = () => import('./app-key.ts')

export type AuthorizeAnswer = ResponseOf<'POST /api/oauth/authorize'>

/**
 * What follows a consent: where to go; the URL to which the server would have sent the key, which stays here; or a
 * place that the user must confirm first, with the answer of the server that waits for it.
 */
export type Outcome = AuthorizationResponse | { ledTo: string } | { place: NewPlace; answer?: AuthorizeAnswer }

/**
 * Sends the consent. Returns the URL to go to, with the app key in its fragment. If the app has never received an
 * existing key there, the user is asked before.
 */
export async function consent(
  view: SignInView,
  { identity, grant }: Approving,
  masterKey: MasterKey | undefined,
): Promise<Outcome> {
  const { key, app } = view
  const { organization, storedKey } = grant
  const body = {
    ...requestOf(view, identity),
    ...(organization && { organizationId: organization.id }),
    ...accessOf(view, grant),
  }
  if (!key || !masterKey) {
    const leaving = leavingOf(await call('POST /api/oauth/authorize', { body }))
    return view.givenTo === undefined ? leaving : resolveFedcm(view, identity, leaving)
  }
  const { redirectUri } = requestedTarget(view, location.search)
  const target = redirectTargetOf(redirectUri)
  if (target === undefined) return { ledTo: redirectUri }
  const { newKeyFor, openKey } = await loadAppKey()
  const owner = { identityId: identity.identityId, clientId: app.clientId }
  const place = storedKey && newPlaceOf([(await openKey(masterKey, owner, storedKey)).places], target)
  if (place) return { place }
  const made = storedKey && !key.reset ? {} : await newKeyFor(masterKey, owner, key, target)
  const answer = await call('POST /api/oauth/authorize', { body: { ...body, ...made } })
  return deliver(view, masterKey, owner, { answer })
}

/**
 * Returns the URL that the server names, with the app key in its fragment, if it is where the app wants its answer, and
 * the app may receive there all keys that the server names. It may have named others than before the consent, because
 * another browser created one first. A former key that a reset replaced is stored no more: for it, `confirmed` is the
 * target that the user has confirmed.
 */
async function deliver(
  view: SignInView,
  masterKey: MasterKey,
  owner: AppKeyOwner,
  { answer, confirmed }: { answer: AuthorizeAnswer; confirmed?: string },
): Promise<Outcome> {
  const { redirectUrl, appKey, replacedAppKey } = answer
  const requested = requestedTarget(view, location.search)
  const target = redirectTargetOf(requested.redirectUri)
  if (target === undefined || !leadsTo(redirectUrl, { ...requested, issuer: location.origin }))
    return { ledTo: redirectUrl }
  if (!appKey) throw new Error('The answer holds no key for an app that takes one.')
  const { openKey, fragmentOf } = await loadAppKey()
  const current = await openKey(masterKey, owner, appKey)
  const former = replacedAppKey && (await openKey(masterKey, owner, replacedAppKey))
  const keys = [current.places, ...(former ? [former.places] : [])]
  const place = confirmed === target ? undefined : newPlaceOf(keys, target)
  if (place) return { place, answer }
  return { url: `${redirectUrl}#${await fragmentOf({ current, former }, requested.recipient)}` }
}

/** Returns the access to organizations if the user has seen that choice. Otherwise the previous choice stays. */
function accessOf(view: SignInView, grant: Grant) {
  if (!view.organizationAccess || grant.organizationAccess === undefined || isSettled(grant, view)) return {}
  return { organizationAccess: grant.organizationAccess ? view.organizationAccess : ('none' as const) }
}

function leavingOf({ redirectUrl, formFields }: ResponseOf<'POST /api/oauth/authorize'>): AuthorizationResponse {
  return { url: redirectUrl, ...(formFields && { fields: formFields }) }
}

/**
 * Stores the key of an app again, so that it may be delivered at the address that the user has confirmed. Returns what
 * to do next: the outcome of the answer that waited for it, or else the key that is stored now.
 */
export async function storePlace(
  view: SignInView,
  masterKey: MasterKey,
  { identity, grant, place: { now } }: Extract<Step, { at: 'confirm place' }>,
  answer: AuthorizeAnswer | undefined,
): Promise<{ outcome: Outcome } | { storedKey: StoredAppKey } | undefined> {
  const stored = answer?.appKey ?? grant.storedKey
  if (!stored) return undefined
  const owner = { identityId: identity.identityId, clientId: view.app.clientId }
  const storedKey = await (await loadAppKey()).addTarget(masterKey, owner, stored, now)
  return answer ? { outcome: await deliver(view, masterKey, owner, { answer, confirmed: now }) } : { storedKey }
}

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
