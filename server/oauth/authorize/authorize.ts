import { narrowerAccess } from '@countersign/protocol/formats/organization-access'
import { missingClaims } from '@countersign/protocol/formats/required-claims'
import { scopesOf } from '@countersign/protocol/formats/scope'
import type { AuthorizeRequest } from '@countersign/protocol/oauth/authorize'
import type { AppDirectory, RegisteredApp } from '#clients/registration/app-directory.ts'
import { mustAskAnew, recordDescribed } from '#clients/registration/described-app.ts'
import { isRegisteredRedirect } from '#clients/registration/redirect-uri.ts'
import { settleAppKey } from '#oauth/app-keys/app-key.ts'
import { connect, holdConsent, readAuthorizationIn, type AccessChoice } from '#oauth/consents/consent.ts'
import { grantDelegation, holdDelegation } from '#oauth/delegation/delegation.ts'
import { holdOwnIdentity } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { enterOrganization } from '#organizations/membership/context.ts'
import { noteAppSession } from '#accounts/sessions/logout.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { keyOf } from '#accounts/sessions/own-key.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { beginLineage, listOrganizationsHeld, type FirstToken } from '#tokens/families/family.ts'
import { answerTo, readResponseMode } from './answer.ts'
import { readKeyWish, readNewKey } from './app-key-request.ts'
import { readChallenge, requireEchoable } from './authorization-request.ts'
import { readConnectorFields, readIndicated, requireConnector, type CheckedConnector } from './connector.ts'
import { endsHere } from './continuation.ts'
import { readMaxAge, readPrompts, requireProof } from './prompt.ts'
import { spendRequest, type KeptRequest } from './pushed-request.ts'
import { requireAllowedScopes } from './scope.ts'

const refuse = refusals({
  invalid_client: [400, 'No app is registered under this client id.'],
  invalid_redirect_uri: [400, 'The redirect URI is not one that the app has registered, letter for letter.'],
  invalid_request: [400, 'The request is malformed.'],
  passkey_required: [403, 'This takes your passkey: an organization has signed you in here, for itself alone.'],
  consent_required: [403, 'The person has not consented to all of this, and may not be asked.'],
  email_not_verified: [409, 'This identity has no verified e-mail address to share. Go on without the scope email.'],
})

const requiredEmail = { sentence: 'The app requires an e-mail address, and this identity has none that is verified.' }

/**
 * Records a person's consent, also to act at a resource of another app, and issues a code for it. Answers where the
 * browser takes it, and the key to take along for an app with end-to-end encryption. Refuses `invalid_client`,
 * `invalid_redirect_uri`, `invalid_request`, `invalid_request_uri`, `invalid_scope`, `invalid_target`,
 * `identity_not_found`, `organization_access_denied`, `enterprise_sso_required`, `passkey_required`,
 * `email_not_verified`, `reauthentication_required`, `login_required`, `consent_required`, `app_key_required`,
 * `invalid_public_key`, `key_in_use`.
 */
export async function authorize(
  { kernel, apps }: { kernel: Kernel; apps: AppDirectory },
  session: Session,
  sent: AuthorizeRequest,
  now: Date,
) {
  const app = await apps.find(sent.clientId)
  if (!app) throw refuse.invalid_client()
  // Each such consent may put an app on record that nobody has registered.
  if (app.documentReadAt)
    await kernel.rateLimits.count('described app of a person', keyOf(session, session.userId, now))
  const { requestUri } = sent
  const { given, code, keys } = await actingTransaction(kernel.db, session, async (tx) => {
    const kept = requestUri === undefined ? undefined : await spendRequest(tx, app.clientId, requestUri, now)
    const wanted = kept ? asKept(sent, kept) : sent
    requireEnding(app, wanted, kernel.config)
    const agreed = readConsent(app, session, wanted, now)
    await recordDescribed(tx, app, now)
    return { given: agreed, ...(await grantCode({ tx, config: kernel.config }, session, agreed, now)) }
  })
  if (app.documentReadAt) apps.forget(app.clientId)
  const { redirectUri, mode, state } = given
  return { leaving: answerTo(redirectUri, mode, { code, state, iss: kernel.config.authUrl.origin }), ...keys }
}

type Identified = Pick<AuthorizeRequest, 'clientId' | 'identityId' | 'redirectUri'>
type Asked = Identified & {
  [Field in keyof Omit<AuthorizeRequest, keyof Identified>]?: AuthorizeRequest[Field] | undefined
}

/**
 * What the person consents to, by the request that the server has kept: of what the page sent, only less scope counts,
 * the key that it made, how far the app may go with organizations, and the one that the person chose where the app
 * asked.
 */
function asKept(sent: AuthorizeRequest, { parameters: pushed, connector }: KeptRequest): Asked {
  const { clientId, identityId, scope, encryptedAppKey, appPublicKey, encryptedAppPrivateKey, organizationId } = sent
  const { organizationAccess } = sent
  const indicated = connector ? { scope: '', connector } : readIndicated(pushed)
  const asked = scopesOf(indicated?.scope ?? pushed['scope'] ?? '')
  const shared = scope === undefined ? asked : asked.filter((each) => scopesOf(scope).includes(each))
  return {
    clientId,
    identityId,
    redirectUri: pushed['redirect_uri'] ?? '',
    scope: shared.join(' '),
    withheldScope: asked.filter((each) => !shared.includes(each)).join(' '),
    state: pushed['state'],
    nonce: pushed['nonce'],
    codeChallenge: pushed['code_challenge'],
    codeChallengeMethod: pushed['code_challenge_method'],
    responseMode: pushed['response_mode'],
    prompt: pushed['prompt'],
    maxAge: readMaxAge(pushed['max_age']),
    ...(pushed['fedcm_continue'] !== undefined && { fedcmContinue: true }),
    requestUri: sent.requestUri,
    organizationId: pushed['organization_id'] === undefined ? undefined : organizationId,
    ...(indicated && {
      connector: true,
      requestedResource: indicated.connector.resource,
      requestedResourceId: sent.requestedResourceId,
      requestedScope: indicated.connector.scope,
      communicationMode: indicated.connector.mode,
    }),
    organizationAccess,
    encryptedAppKey,
    appPublicKey,
    encryptedAppPrivateKey,
  }
}

/**
 * Issues an assertion in place of a code, for what the person has let this app have before, in a transaction that holds
 * the session. Where that does not cover it, refuses `consent_required`, `email_not_verified`, `identity_not_found`,
 * and as `authorize` does.
 */
export async function authorizeAgain(
  { tx, config }: Granting,
  session: Session,
  { app, audience, ...asked }: Again,
  now: Date,
): Promise<string> {
  const wanted = { ...asked, clientId: app.clientId, redirectUri: audience, prompt: 'none', fedcmContinue: true }
  const consent = readConsent(app, session, wanted, now)
  return (await grantCode({ tx, config }, session, { ...consent, first: 'assertion' }, now)).code
}

type Again = Pick<Asked, 'identityId' | 'scope' | 'nonce' | 'codeChallenge' | 'codeChallengeMethod'> & {
  app: RegisteredApp
  /** Where alone the assertion can be redeemed for. */
  audience: string
}

/** Refuses `invalid_redirect_uri` for what is neither registered nor where a browser’s own sign-ins end. */
function requireEnding(app: RegisteredApp, { redirectUri, fedcmContinue }: Asked, config: Kernel['config']): void {
  const isOurs = () => endsHere(app, redirectUri, config.baseUrl.origin)
  if (fedcmContinue ? isOurs() : isRegisteredRedirect(app, redirectUri, config)) return
  throw refuse.invalid_redirect_uri()
}

type Consent = ReturnType<typeof readConsent> & { first?: FirstToken }
type Granting = { tx: Transaction } & Pick<Kernel, 'config'>

/** Decides all of the request again: what came from a page is not what was checked before the page was shown. */
function readConsent(app: RegisteredApp, session: Session, wanted: Asked, now: Date) {
  const { clientId, identityId, redirectUri, nonce, state, requestUri, maxAge: maxAgeSeconds } = wanted
  const organizationId = wanted.organizationId ?? undefined
  const mode = readResponseMode(redirectUri, wanted.responseMode)
  const prompts = readPrompts(wanted.prompt)
  requireProof({ prompts, maxAgeSeconds, requestUri }, session, now)
  if (prompts.includes('none') && mustAskAnew(app, redirectUri)) throw refuse.consent_required()
  requireEchoable(state, nonce)
  const codeChallenge = readChallenge(app, wanted.codeChallenge, wanted.codeChallengeMethod)
  const connector = readConnectorFields(wanted)
  const asked = requireAllowedScopes(wanted.scope ?? '', app)
  const requestedScope = [...asked, ...requireAllowedScopes(wanted.withheldScope ?? '', app)]
  const { scope, keyWish } = readKeyWish(app, asked, {
    mode,
    isForOther: connector !== undefined,
    isByBrowser: wanted.fedcmContinue === true,
  })
  const newKey = readNewKey(keyWish, wanted)
  const { organizationAccess: chosen } = wanted
  const told = { identityId, organizationId, chosen, scope, requestedScope, keyWish, newKey, connector }
  const authTimeRequested = maxAgeSeconds !== undefined
  return { app, clientId, redirectUri, mode, prompts, authTimeRequested, ...told, state, nonce, codeChallenge }
}

/**
 * Records the consent, settles the key of the app if it takes one, and begins the lineage whose code the app gets. The
 * transaction holds the session: who ends it waits for what this gives, and ends that.
 */
async function grantCode({ tx, config }: Granting, session: Session, consent: Consent, now: Date) {
  const { app, identityId, organizationId, clientId, scope, prompts, redirectUri, codeChallenge, nonce } = consent
  const { sessionId, userId, authTime } = session
  const byPasskey = session.authMethod === 'passkey'
  // Held, so that an identity that is being deleted is not given anything more.
  const identity = await holdOwnIdentity(tx, session, identityId)
  const organization = await enterOrganization({ tx, config }, session, consent, now)
  if (missingClaims(app.requiredClaims, identity).length > 0) throw refuse.email_not_verified(requiredEmail)
  if (scope.includes('email') && !identity.emailVerified) throw refuse.email_not_verified()
  if (consent.connector && !byPasskey) throw refuse.passkey_required()
  const connector = consent.connector && (await requireConnector(tx, consent.connector))
  if (prompts.includes('none')) await requireConsented(tx, session, { ...consent, connector }, now)
  // What whoever holds the provider of an organization agrees to is not to count when the person comes as themselves.
  const organizationAccess = accessChoiceOf(consent, byPasskey)
  await connect(tx, { identityId, clientId, scope: byPasskey ? scope : [], organizationAccess }, now)
  if (connector) await grantConnector(tx, consent, connector, now)
  const act = { action: 'app.authorized', actor: 'person', userId, identityId, clientId, details: { scope } } as const
  await record(tx, { ...act, ...(organizationId !== undefined && { organizationId }) }, now)
  const wanted = consent.keyWish && { identityId, clientId, wish: consent.keyWish, made: consent.newKey }
  const keys = wanted && (await settleAppKey(tx, session, wanted, now))
  if (app.backchannelLogoutUri !== null && scope.includes('openid'))
    await noteAppSession(tx, { sessionId, identityId, clientId, organizationId }, now)
  const { requestedScope, authTimeRequested } = consent
  const asked = { requestedScope, authTimeRequested, loginPrompted: prompts.includes('login'), codeChallenge, nonce }
  const begun = { identityId, organization, clientId, sessionId, byPasskey, scope, authTime, redirectUri, ...asked }
  return { code: await beginLineage(tx, begun, now, consent.first), keys }
}

/**
 * What this consent says about the organizations of the user: their choice, within what the app registered. Without one
 * (a client that predates it) a first consent is to all of that. Where nobody was asked, or the provider of an
 * organization alone vouches for them, it says nothing, and what was recorded before stays: nothing widens silently.
 */
function accessChoiceOf({ app, prompts, chosen }: Consent, byPasskey: boolean): AccessChoice {
  if (!byPasskey || prompts.includes('none')) return { chosen: null, unlessRecorded: null }
  const limit = app.organizationAccess
  return { chosen: chosen ? narrowerAccess(chosen, limit) : null, unlessRecorded: limit }
}

type Checked = Omit<Consent, 'connector'> & { connector: CheckedConnector | undefined }

async function grantConnector(tx: Transaction, consent: Consent, connector: CheckedConnector, now: Date) {
  const { resource, scope, mode } = connector
  const { resourceId, resourceKey } = resource
  const { identityId, clientId: sourceClientId } = consent
  await grantDelegation(tx, { identityId, sourceClientId, resourceId, resourceKey, scope, mode }, now)
}

/**
 * Where nothing may be asked, what was consented to before must cover it, and the app must act for the organization
 * already. Consent and delegation are held, so that neither ends meanwhile. Refuses `consent_required`.
 */
async function requireConsented(
  tx: Transaction,
  session: Session,
  { identityId, clientId, organizationId, scope, keyWish, connector }: Checked,
  now: Date,
): Promise<void> {
  if (!(await holdConsent(tx, identityId, clientId))) throw refuse.consent_required()
  const asked = { identityId, clientId, scope }
  const { authorization, missingScopes } = await readAuthorizationIn(tx, session, asked, now)
  if (!authorization || missingScopes.length > 0 || keyWish?.reset) throw refuse.consent_required()
  // A consent of which nothing is recorded says nothing, but that the app may act elsewhere, which is seen below.
  if (authorization.scope === '' && !connector) throw refuse.consent_required()
  const held = organizationId === undefined ? [] : await listOrganizationsHeld(tx, { identityId, clientId }, now)
  if (organizationId !== undefined && !held.includes(organizationId)) throw refuse.consent_required()
  if (!connector) return
  const parties = { identityId, sourceClientId: clientId, resourceId: connector.resource.resourceId }
  if (!(await holdDelegation(tx, parties, connector))) throw refuse.consent_required()
}
