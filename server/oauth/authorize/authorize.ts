import type { OrganizationAccess } from '@countersign/protocol/formats/organization-access'
import { missingClaims } from '@countersign/protocol/formats/required-claims'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { AuthorizeRequest } from '@countersign/protocol/oauth/authorize'
import type { AuthorizationResponse } from '@countersign/protocol/pages'
import { ScopeSet } from '@countersign/protocol/scope-set'
import { requireAccess, requireAccessTo } from '#clients/registration/access/access.ts'
import type { AppDirectory, RegisteredApp } from '#clients/registration/directory.ts'
import {
  requiresFreshConsent,
  storeMetadataDocumentClient,
} from '#clients/registration/metadata-documents/metadata-document-client.ts'
import { isRegisteredRedirectUri } from '#clients/registration/settings.ts'
import { type AppKeyRequest, type NewAppKey, type ResolvedAppKey, resolveAppKey } from '#oauth/app-keys/app-key.ts'
import { findGrantedScope, lockConsent, recordConsent } from '#oauth/consents/consent.ts'
import { requiresPasskey } from '#oauth/consents/organization-choice.ts'
import { findDelegation, lockDelegation } from '#oauth/delegation/delegation.ts'
import { lockOwnIdentity, recordSeen } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { authorizeOrganizationContext } from '#organizations/membership/context.ts'
import { noteAppSession } from '#accounts/backchannel-logout/logout.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { keyOf } from '#accounts/sessions/own-key.ts'
import {
  type PasskeySession,
  type RecoveredSession,
  requireWholeAccount,
  type Session,
} from '#accounts/sessions/session.ts'
import {
  type Consented,
  type InitialCredential,
  createTokenFamily,
  listActiveOrganizationIds,
} from '#tokens/families/family.ts'
import { buildAuthorizationResponse, isFedcmResolvePage, requireProof } from './parameters.ts'
import { mannerOf, parseAppKeyRequest, parseNewAppKey } from './app-key-request.ts'
import { type AuthorizationRequest, type Parameters, readAuthorizationRequest } from './authorization-request.ts'
import { type SentConsent, accessChoiceOf, readConsentForm, requireReach } from './consent-form.ts'
import {
  type ConnectorRequest,
  type ValidatedConnectorRequest,
  grantConnector,
  validateConnector,
} from './connector.ts'
import { spendRequest } from './pushed-request.ts'

const errors = defineErrors({
  invalid_client: [400, 'No active app has this clientId.'],
  invalid_redirect_uri: [400, 'redirectUri does not exactly match a registered redirect URI.'],
  invalid_request: [400, 'The request is malformed.'],
  consent_required: [403, 'The user has not consented to all requested scopes, and prompt=none forbids asking.'],
  email_not_verified: [
    409,
    'The identity has no verified e-mail address. Request authorization without the email scope.',
  ],
})

const requiredEmail = { sentence: 'The app requires an e-mail address, but the identity has no verified one.' }

/**
 * Records a user's consent, also to act at a resource of another app, and issues a code for it.
 *
 * Returns the redirect for the browser, and the key to deliver to an app with end-to-end encryption. Throws
 * `invalid_client`, `invalid_redirect_uri`, `invalid_request`, `invalid_request_uri`, `invalid_scope`,
 * `invalid_target`, `identity_not_found`, `app_access_denied`, `organization_access_denied`,
 * `enterprise_sso_required`, `passkey_required`, `email_not_verified`, `reauthentication_required`, `login_required`,
 * `consent_required`, `app_key_required`, `invalid_public_key`, `key_in_use`, `rate_limited`.
 */
export async function authorize(
  { kernel, apps }: { kernel: ServerContext; apps: AppDirectory },
  session: Session | RecoveredSession,
  sent: AuthorizeRequest,
  now: Date,
): Promise<{ leaving: AuthorizationResponse } & Partial<ResolvedAppKey>> {
  const app = await apps.find(sent.clientId)
  if (!app) throw errors.invalid_client()
  // Each such consent may store an app that no user registered.
  if (app.metadataFetchedAt)
    await kernel.rateLimits.count('unregistered-client-consents-per-user', keyOf(session, session.userId, now))
  // A reset keeps the ciphertext of each key that it replaces.
  if (sent.encryptedAppKey || sent.encryptedAppPrivateKey)
    await kernel.rateLimits.count('new-app-keys-per-user', keyOf(session, session.userId, now))
  const { requestUri } = sent
  const { given, code, keys } = await actingTransaction(kernel.db, session, async (tx) => {
    const kept = requestUri === undefined ? undefined : await spendRequest(tx, app.clientId, requestUri, now)
    const form = readConsentForm(sent, kept)
    requireFinalRedirectUri(app, form.raw, kernel.config)
    const agreed = parseConsent(app, session, form, now)
    await storeMetadataDocumentClient(tx, app, now)
    return { given: agreed, ...(await issueAuthorizationCode({ tx, config: kernel.config }, session, agreed, now)) }
  })
  if (app.metadataFetchedAt) apps.forget(app.clientId)
  const { redirectUri, mode, state } = given.request
  return {
    leaving: buildAuthorizationResponse(redirectUri, mode, { code, state, iss: kernel.config.authUrl.origin }),
    ...keys,
  }
}

/**
 * Issues an assertion instead of a code, if earlier consent of the user covers the request. Runs in a transaction that
 * has locked the session.
 *
 * Throws `consent_required`, `email_not_verified` and `identity_not_found` if it does not cover the request, and the
 * errors of `authorize`.
 */
export async function authorizeSilently(
  { tx, config }: AuthorizeDeps,
  session: PasskeySession,
  { app, audience, identityId, ...sent }: SilentAuthorizationInput,
  now: Date,
): Promise<string> {
  const raw = {
    redirect_uri: audience,
    scope: sent.scope.toString(),
    nonce: sent.nonce,
    code_challenge: sent.codeChallenge,
    code_challenge_method: sent.codeChallengeMethod,
    prompt: 'none',
    fedcm_continue: '1',
  }
  const decision = { ...undecided, identityId, scope: sent.scope }
  const consent = parseConsent(app, session, { source: { by: 'page' }, raw, decision }, now)
  return (await issueAuthorizationCode({ tx, config }, session, { ...consent, first: 'assertion' }, now)).code
}

const undecided = {
  organizationId: undefined,
  organizationAccess: undefined,
  resourceId: undefined,
  newKey: {},
  requestUri: undefined,
}

type SilentAuthorizationInput = {
  app: RegisteredApp
  /** The only audience at which the assertion can be redeemed. */
  audience: string
  identityId: IdentityId
  scope: ScopeSet
  nonce: string | undefined
  codeChallenge: string | undefined
  codeChallengeMethod: string | undefined
}

/** Throws `invalid_redirect_uri` unless the URI is registered or is the FedCM resolve page. */
function requireFinalRedirectUri(
  app: RegisteredApp,
  { redirect_uri: redirectUri = '', fedcm_continue: continues }: Parameters,
  config: ServerContext['config'],
): void {
  const isOurs = () => isFedcmResolvePage(app, redirectUri, config.baseUrl.origin)
  if (continues === undefined ? isRegisteredRedirectUri(app, redirectUri, config) : isOurs()) return
  throw errors.invalid_redirect_uri()
}

/** Consent of a user to a request, checked against both. `scope` is what the app gets, with the mode of its key. */
type Consent = {
  app: RegisteredApp
  request: AuthorizationRequest
  identityId: IdentityId
  organizationId: OrganizationId | undefined
  /** Access to the user's organizations that the user chose. */
  chosen: OrganizationAccess | undefined
  scope: ScopeSet
  /** Scopes that the user shares, requested or not. */
  decided: ScopeSet
  keyWish: AppKeyRequest | undefined
  newKey: NewAppKey | undefined
  connector: ConnectorRequest | undefined
  first: InitialCredential
}

type AuthorizeDeps = { tx: Transaction } & Pick<ServerContext, 'config'>

/**
 * Checks the whole request again, because the values that a page sends are not those that were checked before it was
 * shown.
 */
function parseConsent(
  app: RegisteredApp,
  session: Session | RecoveredSession,
  { source, raw, decision }: SentConsent,
  now: Date,
): Consent {
  const request = readAuthorizationRequest(app, source, raw)
  const { prompts, maxAgeSeconds, redirectUri } = request
  const { identityId, organizationId, organizationAccess: chosen, requestUri } = decision
  requireProof({ prompts, maxAgeSeconds, requestUri }, session, now)
  if (prompts.includes('none') && requiresFreshConsent(app, redirectUri)) throw errors.consent_required()
  const shared = request.scope.intersection(decision.scope)
  const { scope, keyWish: wish } = parseAppKeyRequest(app, shared, mannerOf(request))
  // The window of a FedCM dialog delivers an existing key itself, without this answer.
  const keyWish = request.isFedcmContinuation ? undefined : wish
  const newKey = parseNewAppKey(keyWish, decision.newKey)
  const connector = request.connector && { ...request.connector, resourceId: decision.resourceId }
  const { scope: decided } = decision
  return { app, request, identityId, organizationId, chosen, scope, decided, keyWish, newKey, connector, first: 'code' }
}

/** What a consent gives: a code or an assertion, and the key of an app with end-to-end encryption. */
type IssuedAuthorization = { code: string; keys: ResolvedAppKey | undefined }

/**
 * Records a consent and issues its code. Runs in a transaction that acts for the session. The order of the steps is the
 * security argument:
 *
 * 1. The identity and the membership are locked first, so that neither ends before the code exists.
 * 2. What the request requires of the user, the session and the resource is checked on the locked rows, before anything
 *    is written. With `prompt=none` the earlier consent and delegation are locked, too, so that neither is revoked
 *    meanwhile.
 * 3. The consent, the delegation and their audit event are written. The event says whether the user was asked, or
 *    returned to an app that they had connected. From here the row of the consent is locked: a
 *    disconnection of the app waits for the commit, and then revokes the token family of step 5 too. A later step that
 *    fails undoes all of it.
 * 4. The app key is resolved. It may require a recent authentication, which depends on the key that another browser may
 *    have stored meanwhile. It is therefore no part of the checks.
 * 5. The session gets its record of the app, and the token family its code. No step before this one locks the session.
 *    A revocation of the session that was faster leaves none, and this transaction fails. One that was slower waits for
 *    the commit, and finds the record and the family.
 */
async function issueAuthorizationCode(
  { tx, config }: AuthorizeDeps,
  session: Session | RecoveredSession,
  consent: Consent,
  now: Date,
): Promise<IssuedAuthorization> {
  const { app, request, identityId, organizationId, scope, first } = consent
  const { clientId, prompts, redirectUri, pkce, nonce } = request
  const { sessionId, userId, authTime } = session
  const authenticatedByPasskey = session.authMethod !== 'enterprise_sso'
  const isWholeAccount = session.authMethod === 'passkey'

  const [identity, granted] = await Promise.all([
    lockOwnIdentity(tx, session, identityId, now),
    promptsUser(consent) ? undefined : findGrantedScope(tx, session, { identityId, clientId }, now),
  ])
  await requireAccess(tx, app, identityId)
  requireReach(session, consent, now)
  const organization = await authorizeOrganizationContext({ tx, config }, session, consent, now)
  if (organization && (await requiresPasskey(tx, session, { identityId, clientId, ...organization })))
    requireWholeAccount(session, now)

  if (missingClaims(app.requiredClaims, identity).length > 0) throw errors.email_not_verified(requiredEmail)
  if (scope.has('email') && !identity.emailVerified) throw errors.email_not_verified()
  const connector = consent.connector && (await validateConnector(tx, consent.connector))
  if (connector) await requireAccessTo(tx, connector.resource.ownerClientId, identityId)
  if (prompts.includes('none')) await requireConsented(tx, session, { ...consent, connector }, now)

  // A consent given in a session that only SSO opened must not count when the user signs in with a passkey.
  const organizationAccess = accessChoiceOf(consent, isWholeAccount)
  const recorded = authenticatedByPasskey
    ? { scope, organizationId }
    : { scope: new ScopeSet(), organizationId: undefined }
  const isCovered = await isCoveredBy(granted, tx, { ...consent, connector }, now)
  recordConsent(tx, { identityId, clientId, ...recorded, organizationAccess }, now)
  if (connector) await grantConnector(tx, session, { request, identityId, connector }, now)
  recordSeen(tx, identity, now)
  const action = isCovered ? 'app.signed_in' : 'app.authorized'
  const details = { scope: [...scope] }
  const act = { action, actor: 'user', userId, identityId, clientId, details } as const
  await recordAuditEvent(tx, { ...act, ...(organizationId !== undefined && { organizationId }) }, now)

  const requested = consent.keyWish && { identityId, clientId, wish: consent.keyWish, made: consent.newKey }
  const keys = requested && (await resolveAppKey(tx, session, requested, now))

  if (app.backchannelLogoutUri !== null && scope.has('openid'))
    noteAppSession(tx, { sessionId, identityId, clientId, organizationId }, now)
  const family: Consented = {
    identityId,
    organization,
    clientId,
    sessionId,
    authenticatedByPasskey,
    scope,
    requestedScope: connector ? request.scope.union(connector.scope) : request.scope,
    authTime,
    authTimeRequested: request.maxAgeSeconds !== undefined,
    loginPrompted: prompts.includes('login'),
    redirectUri,
    codeChallenge: pkce.method === 'S256' ? pkce.challenge : undefined,
    nonce,
  }
  return { code: createTokenFamily(tx, family, now, first), keys }
}

type Checked = Omit<Consent, 'connector'> & { connector: ValidatedConnectorRequest | undefined }

/**
 * Checks that an earlier consent covers a request with `prompt=none`, and that the app already acts for the
 * organization. Locks consent and delegation, so that neither ends in the meantime. Throws `consent_required`.
 */
async function requireConsented(
  tx: Transaction,
  session: Session | RecoveredSession,
  checked: Checked,
  now: Date,
): Promise<void> {
  const { request, identityId, connector } = checked
  const { clientId: sourceClientId } = request
  const [isConnected, granted] = await Promise.all([
    lockConsent(tx, identityId, sourceClientId),
    findGrantedScope(tx, session, { identityId, clientId: sourceClientId }, now),
  ])
  if (!isConnected) throw errors.consent_required()
  if (connector) {
    const parties = { identityId, sourceClientId, resourceId: connector.resource.resourceId }
    if (!(await lockDelegation(tx, parties, connector))) throw errors.consent_required()
  }
  if (!(await isCoveredBy(granted, tx, checked, now))) throw errors.consent_required()
}

/** Tells if scopes that were granted before cover a request, also for its organization and at the other app. */
async function isCoveredBy(
  granted: ScopeSet | undefined,
  tx: Transaction,
  { request: { clientId }, identityId, organizationId, scope, keyWish, connector }: Checked,
  now: Date,
): Promise<boolean> {
  if (!granted || !scope.isWithin(granted) || keyWish?.reset) return false
  // A consent with an empty scope only says that the app may act elsewhere, which is checked below.
  if (granted.size === 0 && !connector) return false
  const held = organizationId === undefined ? [] : await listActiveOrganizationIds(tx, { identityId, clientId }, now)
  if (organizationId !== undefined && !held.includes(organizationId)) return false
  if (!connector) return true
  const parties = { identityId, sourceClientId: clientId, resourceId: connector.resource.resourceId }
  return (await findDelegation(tx, parties, connector)).covered
}

/**
 * Tells if the page prompts the user whatever they had consented to before: the app requires it, or the user withheld
 * or chose something that only the question offers.
 */
function promptsUser({ app, request: { prompts, redirectUri, scope }, decided, chosen }: Consent): boolean {
  return (
    prompts.includes('consent') ||
    requiresFreshConsent(app, redirectUri) ||
    chosen !== undefined ||
    !scope.isWithin(decided)
  )
}
