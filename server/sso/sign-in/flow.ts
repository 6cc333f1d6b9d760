import { randomUUID } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { isUuid } from '@countersign/protocol/values'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { requireRecentAuthentication } from '#accounts/sessions/session.ts'
import { claimsOf, listRules, matchedRules } from '#sso/connections/group-rule.ts'
import * as assertionStore from './assertion-store.ts'
import { loadOidcClient } from '#sso/connections/settings.ts'
import {
  findConnection,
  findEnabledConnection,
  isVouchedFor,
  recordTestSuccess,
  getConnection,
  type Connection,
} from '#sso/connections/connection.ts'
import { findCertificate, loadDecryptionKeys } from '#sso/connections/encryption-key.ts'
import { buildOidcRedirect, verifyOidcCallback, OidcLoginState } from '#sso/providers/oidc.ts'
import type { SamlIdentityProvider } from '@countersign/saml/element'
import { serviceProviderMetadata } from '@countersign/saml/metadata'
import { buildSamlRedirect, requireRequestId, serviceProviderOf, verifySamlCallback } from '#sso/providers/saml.ts'
import * as store from './store.ts'
import { failureReason, errors as providerErrors, type UpstreamUser } from '#sso/providers/provider.ts'
import { parse } from '#platform/schema.ts'

export const errors = defineErrors({
  invalid_request: [400, 'return_to must be a URL of this service.'],
  invalid_sso_flow: [400, 'The SSO login expired, was already used, or started in another browser. Start again.'],
  sso_connection_unavailable: [404, 'The SSO connection does not exist or is disabled.'],
})

const returnAddressCharactersMax = 16_000

/** Input of a sign-in with an organization's provider. */
export type Start = {
  connectionId: string
  returnTo?: string | undefined
  loginHint?: string | undefined
  /** Token of a test sign-in, which a member who manages SSO has received. */
  test?: string | undefined
  /** Token that binds the browser to earlier sign-ins. */
  browserToken: string | undefined
  /**
   * Set if a link or page of another origin led the browser here. The user must then confirm the sign-in before a
   * session is opened, and afterwards only the organizations page opens.
   */
  startedElsewhere: boolean
  /**
   * Set if it was a page of another site. The browser is then redirected automatically only if the organization vouches
   * for the provider.
   */
  isCrossSite?: boolean
}

/** The redirect URL, the browser's token, and the organization to show to the user before the redirect. */
type Begun = { location: string; browserToken: string; shows?: { organization: string } }

/**
 * Starts a sign-in with a connection. Any user can create an organization whose connection leads to any address. From a
 * page of another site the browser is therefore redirected automatically only if the organization vouches for the
 * provider (RFC 9700 §4.11.2). Throws `invalid_request`, `sso_connection_unavailable`, `invalid_sso_flow`, and the
 * errors of `buildOidcRedirect`.
 */
export async function startSsoLogin(kernel: ServerContext, start: Start): Promise<Begun> {
  const { db, keyring, config, clock } = kernel
  const { connectionId, returnTo, loginHint, test, browserToken = newToken(), startedElsewhere } = start
  if (returnTo !== undefined && !isOurPage(returnTo, config)) throw errors.invalid_request()
  const purpose = test === undefined ? 'login' : 'test'
  const { connection, organization } = await requireEnabledConnection(db, connectionId, purpose)
  if (test !== undefined && !(await store.consumeTestLogin(db, connectionId, sha256(test), clock())))
    throw errors.invalid_sso_flow()

  const flowId = randomUUID()
  const { location, state, memory } = await begin(kernel, connection, loginHint)
  await store.insertFlow(db, {
    flowId,
    connectionId,
    purpose,
    step: 'started',
    stateSha256: sha256(state),
    browserTokenSha256: sha256(browserToken),
    ...(memory && { sealedState: await keyring.seal(sealOf(flowId), JSON.stringify(memory)) }),
    startedElsewhere,
    ...(returnTo !== undefined && !startedElsewhere && { returnTo }),
    expiresAt: addSeconds(clock(), limits.flowLifetimeSeconds),
  })
  const isShown = start.isCrossSite === true && !(await isVouchedFor(db, connection))
  return { location, browserToken, ...(isShown && { shows: { organization: organization.name } }) }
}

/** Returns the provider's URL, the value that the response must contain, and the data to store. */
async function begin(kernel: ServerContext, connection: Connection, loginHint: string | undefined) {
  const { outbound, config, clock } = kernel
  const { connectionId, settings } = connection
  if (settings.protocol === 'saml') {
    const ours = serviceProviderOf(config.baseUrl, connectionId)
    const { location, requestId } = buildSamlRedirect({ ...ours, identityProvider: settings }, clock())
    return { location, state: requestId, memory: undefined }
  }
  const state = newToken()
  const client = await loadOidcClient(kernel, connection, settings)
  return { state, ...(await buildOidcRedirect(outbound, client, { state, ...(loginHint && { loginHint }) })) }
}

/**
 * Creates a test sign-in for a member who can manage SSO; returns its single-use token. Throws the errors of
 * `getConnection`, and `reauthentication_required`.
 */
export function createTestLogin(
  kernel: ServerContext,
  asking: Parameters<typeof getConnection>[1],
  now: Date,
): Promise<string> {
  return actingTransaction(kernel.db, asking.session, async (tx) => {
    const { connectionId } = await getConnection({ ...kernel, db: tx }, asking, now)
    requireRecentAuthentication(asking.session, now)
    return insertOffer(tx, connectionId, now)
  })
}

async function insertOffer(tx: Transaction, connectionId: string, now: Date): Promise<string> {
  const test = newToken()
  const offer = { flowId: randomUUID(), connectionId, purpose: 'test', step: 'created' } as const
  const expiresAt = addSeconds(now, limits.flowLifetimeSeconds)
  await store.insertFlow(tx, { ...offer, stateSha256: sha256(test), expiresAt })
  return test
}

/** Parameters of a provider's response, from the URL or a form. */
export type SsoCallbackInput =
  | { protocol: 'oidc'; parameters: URLSearchParams }
  | { protocol: 'saml'; samlResponse: string }
export type SsoCallback = { connectionId: string; browserToken: string | undefined; received: SsoCallbackInput }

/**
 * Processes a provider's response to a sign-in of this browser, once. Every failure ends the sign-in, and the
 * organization's audit log records the reason. Returns the id of the sign-in, whose user is now known. Throws
 * `invalid_sso_flow`, `sso_connection_unavailable`, and the errors of `verifyOidcCallback` and `verifySamlResponse`.
 */
export async function handleSsoCallback(
  kernel: ServerContext,
  { connectionId, browserToken, received }: SsoCallback,
): Promise<string> {
  const { db, clock } = kernel
  if (browserToken === undefined || !isUuid(connectionId)) throw errors.invalid_sso_flow()
  const state = stateOf(received)
  const target = { connectionId, stateSha256: sha256(state), browserTokenSha256: sha256(browserToken) }
  const flow = await store.markCallbackReceived(db, target, clock())
  if (!flow) throw errors.invalid_sso_flow()

  const { connection } = await requireEnabledConnection(db, connectionId, flow.purpose)
  const rules = await listRules(db, connectionId)
  const finishing = finish(kernel, connection, { ...flow, state, received, claims: claimsOf(rules) })
  await prove(kernel, connection, { flowId: flow.flowId, rules }, finishing)
  if (flow.purpose === 'test') await recordTestSuccess(db, connectionId, clock())
  return flow.flowId
}

/** Returns the lookup value of the sign-in. The response is authenticated later. */
function stateOf(received: SsoCallbackInput): string {
  if (received.protocol === 'saml') return requireRequestId(received.samlResponse)
  const [state = '', ...others] = received.parameters.getAll('state')
  if (others.length > 0) throw errors.invalid_sso_flow()
  return state
}

type Answered = {
  flowId: string
  sealedState: string | null
  state: string
  received: SsoCallbackInput
  /** Names of the claims whose values the rules of the connection need. */
  claims: string[]
}

async function finish(kernel: ServerContext, connection: Connection, answered: Answered): Promise<UpstreamUser> {
  const { outbound, keyring, clock } = kernel
  const { settings } = connection
  const { flowId, sealedState, state, received, claims } = answered
  if (settings.protocol === 'oidc' && received.protocol === 'oidc') {
    const memory = parse(OidcLoginState, JSON.parse(await keyring.open(sealOf(flowId), sealedState ?? '')))
    const client = await loadOidcClient(kernel, connection, settings)
    return verifyOidcCallback(outbound, client, { memory, state, answer: received.parameters, claims }, clock())
  }
  if (settings.protocol === 'saml' && received.protocol === 'saml')
    return finishOnce(kernel, connection, settings, { ...received, requestId: state, claims })
  throw errors.invalid_sso_flow()
}

/** Returns the user that a SAML provider named, if the assertion is used for the first time. */
async function finishOnce(
  kernel: ServerContext,
  { connectionId, organizationId }: Pick<Connection, 'connectionId' | 'organizationId'>,
  identityProvider: SamlIdentityProvider,
  answered: { samlResponse: string; requestId: string; claims: string[] },
): Promise<UpstreamUser> {
  const { db, config, clock, rateLimits } = kernel
  const connection = { ...serviceProviderOf(config.baseUrl, connectionId), identityProvider }
  const answer = {
    ...answered,
    findKeys: () => loadDecryptionKeys(kernel, connectionId, clock()),
    onSigned: () => rateLimits.count('signed-saml-responses-per-organization', organizationId),
  }
  const { assertionId, notOnOrAfter, ...person } = await verifySamlCallback(connection, answer, clock())
  // The sign-in is consumed by then whatever the response says, so the response cannot be used for another one.
  const longest = addSeconds(clock(), 2 * limits.flowLifetimeSeconds)
  const observed = addSeconds(notOnOrAfter, limits.clockSkewSecondsMax)
  const expiresAt = observed < longest ? observed : longest
  const isFirst = await assertionStore.insertAssertion(db, {
    connectionId,
    assertionSha256: sha256(assertionId),
    expiresAt,
  })
  if (!isFirst) throw providerErrors.sso_response_invalid(failureReason('assertion_used'))
  return person
}

/** Returns the service provider metadata for the SAML provider of a connection. Throws `sso_connection_unavailable`. */
export async function getServiceProviderMetadata({ db, config }: ServerContext, connectionId: string): Promise<string> {
  const connection = isUuid(connectionId) ? await findConnection(db, connectionId) : undefined
  if (connection?.settings.protocol !== 'saml') throw errors.sso_connection_unavailable()
  const certificate = await findCertificate(db, connectionId)
  return serviceProviderMetadata(serviceProviderOf(config.baseUrl, connectionId), certificate)
}

/** Stores the user that the provider named, or records the failure in the organization's audit log. */
async function prove(
  kernel: ServerContext,
  connection: Connection,
  { flowId, rules }: { flowId: string; rules: Awaited<ReturnType<typeof listRules>> },
  finishing: Promise<UpstreamUser>,
) {
  const { db, clock, log } = kernel
  const { connectionId, organizationId } = connection
  try {
    const { values, ...user } = await finishing
    const proved = { ...user, ruleIds: matchedRules(rules, values) }
    await store.markAuthenticated(db, flowId, proved, addSeconds(clock(), limits.flowLifetimeSeconds))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const said = error.fields['because']
    const details = { connectionId, reason: error.code, ...(typeof said === 'string' && { because: said }) }
    log.info(details, 'sso login failed')
    if (await isRecorded(kernel, connectionId))
      await recordAuditEvent(db, { action: 'sso.login.failed', actor: 'system', organizationId, details }, clock())
    // The error does not reveal the reason, so that forged responses cannot be tested.
    throw new ApiError(error.status, error.code, error.message, { headers: error.headers })
  }
}

/**
 * Checks if the audit log should record a failed sign-in. Anyone can cause failures, and audit events are never
 * deleted. Beyond a limit failures are only logged, so that they cannot hide other events.
 */
async function isRecorded({ rateLimits }: ServerContext, connectionId: string): Promise<boolean> {
  try {
    await rateLimits.count('recorded-sso-failures-per-connection', connectionId)
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** Deletes up to `batch` expired sign-ins, and returns the number. */
export function pruneFlows(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredFlows(db, now, batch)
}

/** Deletes up to `batch` expired assertion records, and returns the number. */
export function pruneAssertions(db: Database, now: Date, batch: number): Promise<number> {
  return assertionStore.deleteExpiredAssertions(db, now, batch)
}

/** Gets an active connection of an active organization. Throws `sso_connection_unavailable` in all other cases. */
export async function requireEnabledConnection(db: Database, connectionId: string, purpose: 'login' | 'test') {
  const usable = isUuid(connectionId) ? await findEnabledConnection(db, connectionId, purpose) : undefined
  if (!usable) throw errors.sso_connection_unavailable()
  return usable
}

/** Checks if a URL is of this service, so that a user who has just signed in is not redirected elsewhere. */
function isOurPage(address: string, { authUrl, businessUrl }: Config): boolean {
  const url = address.length <= returnAddressCharactersMax ? URL.parse(address) : null
  const isOurs = url?.origin === authUrl.origin || url?.origin === businessUrl.origin
  return isOurs && url.username === '' && url.password === '' && !url.pathname.startsWith('/api/')
}

const sealOf = (flowId: string) => `sso flow ${flowId}`

function newToken(): string {
  return randomBytes(32).toString('base64url')
}
