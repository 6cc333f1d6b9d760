import type { MasterKey } from '@countersign/keys/master-key'
import type { ResponseOf } from '@countersign/protocol/api'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { AuthorizationResponse, Connector, SignInView } from '@countersign/protocol/pages'
import { ApiError, call } from '../../../lib/api/call.ts'
import { grantableScopes } from '../../../lib/text/scope-words.ts'
import type { StoredAppKey } from '../../../lib/keys/stored-app-key.ts'
import { leadsTo, requestedTarget } from '../requested-target.ts'
import { type Approving, type Grant, type Step, isSettled } from '../steps.ts'
import type { AppKeyOwner } from './app-key.ts'
import { scopeTextOf } from './delegating.ts'
import { mayGoByBrowser, newPlaceOf, type NewPlace } from './delivery.ts'

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
  if (isByBrowser(view)) {
    const appKeyJwe = storedKey && masterKey && (await sealForBrowser(view, masterKey, identity, storedKey))
    const leaving = leavingOf(await call('POST /api/oauth/authorize', { body }))
    return resolveFedcm(view, identity, leaving, appKeyJwe)
  }
  if (!key || !masterKey) return leavingOf(await call('POST /api/oauth/authorize', { body }))
  const { newKeyFor, openKey, destinationOf } = await loadAppKey()
  const requested = requestedTarget(view, location.search)
  const destination = await destinationOf(requested)
  if (!destination) return { ledTo: requested.redirectUri }
  const owner = { identityId: identity.identityId, clientId: app.clientId }
  const place = storedKey && newPlaceOf([(await openKey(masterKey, owner, storedKey)).places], destination)
  if (place) return { place }
  const made = storedKey && !key.reset ? {} : await newKeyFor(masterKey, owner, key, destination)
  const answer = await call('POST /api/oauth/authorize', { body: { ...body, ...made } })
  return deliver(view, masterKey, owner, { answer })
}

/**
 * Returns the URL that the server names, with the app key in its fragment, if it is where the app wants its answer, and
 * the app may receive there all keys that the server names. It may have named others than before the consent, because
 * another browser created one first. A former key that a reset replaced is stored no more: for it, `confirmed` says
 * that the user has confirmed the destination.
 */
async function deliver(
  view: SignInView,
  masterKey: MasterKey,
  owner: AppKeyOwner,
  { answer, confirmed }: { answer: AuthorizeAnswer; confirmed?: true },
): Promise<Outcome> {
  const { redirectUrl, appKey, replacedAppKey } = answer
  const requested = requestedTarget(view, location.search)
  const { openKey, fragmentOf, destinationOf } = await loadAppKey()
  const destination = await destinationOf(requested)
  if (!destination || !leadsTo(redirectUrl, { ...requested, issuer: location.origin })) return { ledTo: redirectUrl }
  if (!appKey) throw new Error('The answer holds no key for an app that takes one.')
  const current = await openKey(masterKey, owner, appKey)
  const former = replacedAppKey && (await openKey(masterKey, owner, replacedAppKey))
  const keys = [current.places, ...(former ? [former.places] : [])]
  const place = confirmed ? undefined : newPlaceOf(keys, destination)
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
  { identity, grant, place: shown }: Extract<Step, { at: 'confirm place' }>,
  answer: AuthorizeAnswer | undefined,
): Promise<{ outcome: Outcome } | { storedKey: StoredAppKey } | undefined> {
  const stored = answer?.appKey ?? grant.storedKey
  if (!stored) return undefined
  const owner = { identityId: identity.identityId, clientId: view.app.clientId }
  const { addDestination, destinationOf } = await loadAppKey()
  const destination = await destinationOf(requestedTarget(view, location.search))
  if (!destination) return undefined
  const storedKey = await addDestination(masterKey, owner, stored, { destination, shown })
  return answer ? { outcome: await deliver(view, masterKey, owner, { answer, confirmed: true }) } : { storedKey }
}

/** Returns whether this page continues a FedCM dialog, whether its own URL or the server says so. */
export function isByBrowser({ givenTo }: Pick<SignInView, 'givenTo'>): boolean {
  return givenTo !== undefined || new URLSearchParams(location.search).has('fedcm_continue')
}

/**
 * Returns the app key encrypted to the app's server, if the user has bound it to the recipient in the URL of this page,
 * and the dialog is of an origin where the app has received it. Otherwise the dialog delivers no key.
 */
async function sealForBrowser(
  view: SignInView,
  masterKey: MasterKey,
  { identityId }: Identity,
  storedKey: StoredAppKey,
): Promise<string | undefined> {
  const { openKey, destinationOf, sealedOf } = await loadAppKey()
  const requested = requestedTarget(view, location.search)
  const current = await openKey(masterKey, { identityId, clientId: view.app.clientId }, storedKey)
  const recipient = (await destinationOf(requested))?.recipient
  const origin = new URLSearchParams(location.search).get('fedcm_origin')
  if (!recipient || !requested.recipient || !mayGoByBrowser(current.places, recipient, origin)) return undefined
  return sealedOf(current, requested.recipient)
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
  appKeyJwe: string | undefined,
): Promise<AuthorizationResponse> {
  const { searchParams } = new URL(url)
  const body = {
    code: searchParams.get('code') ?? '',
    state: searchParams.get('state') ?? '',
    clientId: app.clientId,
    ...(appKeyJwe !== undefined && { appKeyJwe }),
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
