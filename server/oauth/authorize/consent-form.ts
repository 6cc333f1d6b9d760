import { narrowerAccess, type OrganizationAccess } from '@countersign/protocol/formats/organization-access'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { AuthorizeRequest } from '@countersign/protocol/oauth/authorize'
import { ScopeSet } from '@countersign/protocol/scope-set'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import type { AccessChoice } from '#oauth/consents/consent.ts'
import { requireWholeAccount, type RecoveredSession, type Session } from '#accounts/sessions/session.ts'
import type { AppKeyRequest } from '#oauth/app-keys/app-key.ts'
import type { AppKeyFields } from './app-key-request.ts'
import { type AuthorizationRequest, type Parameters, type Source, requireAllRead } from './authorization-request.ts'
import { type ConnectorRequest, parseConnectorRequest } from './connector.ts'
import type { KeptRequest } from './pushed-request.ts'

/** A session is never older, so a longer time means the same. */
const maxAgeSecondsMax = 999_999_999

/** Decisions of the user on the page. Nothing else in what a page sends counts for a request that was stored. */
export type ConsentDecision = {
  identityId: IdentityId
  /** Scopes that the user shares. The app gets those of them that it requested. */
  scope: ScopeSet
  organizationId: OrganizationId | undefined
  organizationAccess: OrganizationAccess | undefined
  /** ID of the resource that was shown. */
  resourceId: string | undefined
  /** Key that the browser created for the app, if any. */
  newKey: AppKeyFields
  requestUri: string | undefined
}

/** What a page sends: the request of the app, by its source, and the decisions of the user. */
export type SentConsent = { source: Source; raw: Parameters; decision: ConsentDecision }

/**
 * Separates the app's request that a page repeats from the user's decisions. Of a stored request, `kept` replaces what
 * the page repeats, and the organization chosen counts only if the app let the user choose. A field that this function
 * does not read does not compile, nor does a parameter that the page would not repeat. Throws `invalid_request`.
 */
export function readConsentForm(sent: AuthorizeRequest, kept: KeptRequest | undefined): SentConsent {
  const { clientId, redirectUri, state, nonce, codeChallenge, codeChallengeMethod, responseMode, ...others } = sent
  const { prompt, maxAge, fedcmContinue, scope, withheldScope = '', ...rest } = others
  const { connector, requestedResource, requestedResourceId, requestedScope, communicationMode, ...decided } = rest
  const { identityId, organizationId, organizationAccess, requestUri, ...remaining } = decided
  const { encryptedAppKey, appPublicKey, encryptedAppPrivateKey, ...unread } = remaining
  requireAllRead(unread)
  const repeated: Required<Parameters> = {
    ...notRepeated,
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: `${scope ?? ''} ${withheldScope}`,
    state,
    nonce,
    code_challenge: codeChallenge,
    code_challenge_method: codeChallengeMethod,
    response_mode: responseMode,
    prompt,
    max_age: maxAge === undefined ? undefined : String(Math.min(maxAge, maxAgeSecondsMax)),
    fedcm_continue: fedcmContinue === true ? '1' : undefined,
  }
  const raw = kept ? kept.parameters : repeated
  const fields = { connector, requestedResource, requestedResourceId, requestedScope, communicationMode }
  const mayChoose = !kept || kept.parameters.organization_id !== undefined
  return {
    source: kept
      ? { by: 'store', connector: kept.connector }
      : { by: 'page', connector: parseConnectorRequest(fields) },
    raw,
    decision: {
      identityId,
      scope: ScopeSet.parse(scope ?? (kept ? raw.scope : undefined) ?? ''),
      organizationId: (mayChoose ? organizationId : undefined) ?? undefined,
      organizationAccess: organizationAccess ?? undefined,
      resourceId: requestedResourceId ?? undefined,
      newKey: { encryptedAppKey, appPublicKey, encryptedAppPrivateKey },
      requestUri,
    },
  }
}

/** Parameters that the page does not repeat, because the user has decided them, or because they only lead the page. */
const notRepeated = {
  response_type: undefined,
  login_hint: undefined,
  identity_id: undefined,
  id_token_hint: undefined,
  ui_locales: undefined,
  organization_id: undefined,
  app_key_jwk: undefined,
  resource: undefined,
  request: undefined,
  request_uri: undefined,
  registration: undefined,
  fedcm_origin: undefined,
}

/**
 * Returns what this consent says about the user's organizations: the user's choice, limited to what the app registered.
 *
 * A first consent without a choice (from an older client) allows all of that. A consent that was not shown, or that was
 * given in a session for less than the account, says nothing and keeps what was recorded before: access never widens
 * silently.
 */
export function accessChoiceOf(
  { app, request: { prompts }, chosen }: OrganizationConsent,
  isWholeAccount: boolean,
): AccessChoice {
  if (!isWholeAccount || prompts.includes('none')) return { chosen: null, unlessRecorded: null }
  const limit = app.organizationAccess
  return { chosen: chosen ? narrowerAccess(chosen, limit) : null, unlessRecorded: limit }
}

type OrganizationConsent = {
  app: Pick<RegisteredApp, 'organizationAccess'>
  request: Pick<AuthorizationRequest, 'prompts'>
  chosen: OrganizationAccess | undefined
}

type Reaching = Pick<ConsentDecision, 'organizationId'> & {
  app: Pick<RegisteredApp, 'organizationAccess'>
  scope: ScopeSet
  keyWish: AppKeyRequest | undefined
  connector: ConnectorRequest | undefined
}

/**
 * Checks that a session for less than the account gives an app nothing beyond it. The ID of the account would tell
 * which identities belong together, and an app key is the user's, not the organization's. An app that has nothing to do
 * with organizations would take any user of their identity provider for the user themselves.
 *
 * Throws `passkey_required`, and `recovery_hold` for a recovered account.
 */
export function requireReach(
  session: Session | RecoveredSession,
  { app, scope, organizationId, keyWish, connector }: Reaching,
  now: Date,
): void {
  const isOfAccount = scope.has('user_id') || connector !== undefined
  const isOfUser = keyWish !== undefined || app.organizationAccess === 'none'
  const isBeyond = session.authMethod === 'enterprise_sso' ? isOfUser : organizationId !== undefined
  if (isOfAccount || isBeyond) requireWholeAccount(session, now)
}
