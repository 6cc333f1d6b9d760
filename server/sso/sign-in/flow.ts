import { randomUUID } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { Value } from 'typebox/value'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { Refusal, refusals } from '#platform/refusal.ts'
import { isUuid } from '#platform/crypto/token-format.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { requireFresh } from '#accounts/sessions/session.ts'
import * as assertionStore from './assertion-store.ts'
import { openClient } from '#sso/connections/client.ts'
import {
  findConnection,
  findUsable,
  isVouchedFor,
  noteTested,
  readConnection,
  type Connection,
} from '#sso/connections/connection.ts'
import { openEncryptionKeys } from '#sso/connections/encryption-key.ts'
import * as encryptionKeyStore from '#sso/connections/encryption-key-store.ts'
import { beginOidc, finishOidc, OidcMemory } from '#sso/providers/oidc.ts'
import { serviceProviderOf, type SamlIdentityProvider } from '#sso/saml/saml.ts'
import { serviceProviderMetadata } from '#sso/saml/metadata.ts'
import { beginSaml } from '#sso/saml/request.ts'
import { finishSaml, readRequestId } from '#sso/saml/response.ts'
import * as store from '#sso/connections/store.ts'
import { because, refuse as refuseAnswer, type UpstreamPerson } from '#sso/providers/upstream.ts'

export const refuse = refusals({
  invalid_request: [400, 'After signing in one can only go to a page of this service.'],
  invalid_sso_flow: [400, 'This sign-in has expired, was used before, or began in another browser. Start again.'],
  sso_not_available: [404, 'There is no sign-in of an organization at this address, or it is turned off.'],
})

const returnAddressCharactersMax = 16_000

/** What a person wants who is sent to their organization's provider. */
export type Start = {
  connectionId: string
  returnTo?: string | undefined
  loginHint?: string | undefined
  /** What makes it a test; whoever looks after the connection was given it. */
  test?: string | undefined
  /** What binds the browser to sign-ins that it has begun before. */
  browserToken: string | undefined
  /**
   * Whether a link or page that is not ours has led the browser here. Then the user confirms the sign-in before a
   * session is opened, and it leads to no other page than that of their organizations.
   */
  startedElsewhere: boolean
  /** Whether that was a page of another site: then it leads on by itself only where the organization answers for it. */
  isCrossSite?: boolean
}

/** Where the browser goes, what it is bound by, and the organization that the user is to be shown before it does. */
type Begun = { location: string; browserToken: string; shows?: { organization: string } }

/**
 * Begins a sign-in with a connection. Any user can make an organization and lead its sign-in to any address: from a
 * page of another site the browser is taken there unseen only where the organization answers for it (RFC 9700 §4.11.2).
 * Refuses `invalid_request`, `sso_not_available`, `invalid_sso_flow`, and as `beginOidc` does.
 */
export async function beginFlow(kernel: Kernel, start: Start): Promise<Begun> {
  const { db, keyring, config, clock } = kernel
  const { connectionId, returnTo, loginHint, test, browserToken = newToken(), startedElsewhere } = start
  if (returnTo !== undefined && !isOurPage(returnTo, config)) throw refuse.invalid_request()
  const purpose = test === undefined ? 'sign in' : 'test'
  const { connection, organization } = await requireUsable(db, connectionId, purpose)
  if (test !== undefined && !(await store.takeOffer(db, connectionId, sha256(test), clock())))
    throw refuse.invalid_sso_flow()

  const flowId = randomUUID()
  const { location, state, memory } = await begin(kernel, connection, loginHint)
  await store.insertFlow(db, {
    flowId,
    connectionId,
    purpose,
    step: 'begun',
    stateSha256: sha256(state),
    browserSha256: sha256(browserToken),
    ...(memory && { sealedMemory: await keyring.seal(sealOf(flowId), JSON.stringify(memory)) }),
    startedElsewhere,
    ...(returnTo !== undefined && !startedElsewhere && { returnTo }),
    expiresAt: secondsAfter(clock(), limits.flowLifetimeSeconds),
  })
  const isShown = start.isCrossSite === true && !(await isVouchedFor(db, connection))
  return { location, browserToken, ...(isShown && { shows: { organization: organization.name } }) }
}

/** Where the provider is asked, what its answer has to bring back, and what else there is to remember of it. */
async function begin(kernel: Kernel, connection: Connection, loginHint: string | undefined) {
  const { outbound, config, clock } = kernel
  const { connectionId, settings } = connection
  if (settings.protocol === 'saml') {
    const ours = serviceProviderOf(config.baseUrl, connectionId)
    const { location, requestId } = beginSaml({ ...ours, identityProvider: settings }, clock())
    return { location, state: requestId, memory: undefined }
  }
  const state = newToken()
  const client = await openClient(kernel, connection, settings)
  return { state, ...(await beginOidc(outbound, client, { state, ...(loginHint && { loginHint }) })) }
}

/**
 * Offers a test sign-in to a member who may manage SSO; answers what begins it, once. Refuses as `readConnection` does,
 * and `reauthentication_required`.
 */
export function offerTest(kernel: Kernel, asking: Parameters<typeof readConnection>[1], now: Date): Promise<string> {
  return actingTransaction(kernel.db, asking.session, async (tx) => {
    const { connectionId } = await readConnection({ ...kernel, db: tx }, asking, now)
    requireFresh(asking.session, now)
    return insertOffer(tx, connectionId, now)
  })
}

async function insertOffer(tx: Transaction, connectionId: string, now: Date): Promise<string> {
  const test = newToken()
  const offer = { flowId: randomUUID(), connectionId, purpose: 'test', step: 'offered' } as const
  const expiresAt = secondsAfter(now, limits.flowLifetimeSeconds)
  await store.insertFlow(tx, { ...offer, stateSha256: sha256(test), expiresAt })
  return test
}

/** What a provider has sent the browser back with: in the address, or in a form. */
export type Received = { protocol: 'oidc'; parameters: URLSearchParams } | { protocol: 'saml'; samlResponse: string }
export type Answer = { connectionId: string; browserToken: string | undefined; received: Received }

/**
 * Takes the answer of a provider to a sign-in that this browser has begun, once; whatever is wrong with it, it is over,
 * and the trail of the organization tells why. Answers the id of the sign-in, whose person is known now. Refuses
 * `invalid_sso_flow`, `sso_not_available`, and as `finishOidc` and `finishSaml` do.
 */
export async function takeAnswer(kernel: Kernel, { connectionId, browserToken, received }: Answer): Promise<string> {
  const { db, clock } = kernel
  if (browserToken === undefined || !isUuid(connectionId)) throw refuse.invalid_sso_flow()
  const state = stateOf(received)
  const sought = { connectionId, stateSha256: sha256(state), browserSha256: sha256(browserToken) }
  const flow = await store.takeAnswered(db, sought, clock())
  if (!flow) throw refuse.invalid_sso_flow()

  const { connection } = await requireUsable(db, connectionId, flow.purpose)
  await prove(kernel, connection, flow.flowId, finish(kernel, connection, { ...flow, state, received }))
  if (flow.purpose === 'test') await noteTested(db, connectionId, clock())
  return flow.flowId
}

/** What the sign-in is found by. Whether it is the provider who brings it back is seen later. */
function stateOf(received: Received): string {
  if (received.protocol === 'saml') return readRequestId(received.samlResponse)
  const [state = '', ...others] = received.parameters.getAll('state')
  if (others.length > 0) throw refuse.invalid_sso_flow()
  return state
}

type Answered = { flowId: string; sealedMemory: string | null; state: string; received: Received }

async function finish(kernel: Kernel, connection: Connection, answered: Answered): Promise<UpstreamPerson> {
  const { outbound, keyring, clock } = kernel
  const { settings } = connection
  const { flowId, sealedMemory, state, received } = answered
  if (settings.protocol === 'oidc' && received.protocol === 'oidc') {
    const memory = Value.Parse(OidcMemory, JSON.parse(await keyring.open(sealOf(flowId), sealedMemory ?? '')))
    const client = await openClient(kernel, connection, settings)
    return finishOidc(outbound, client, { memory, state, answer: received.parameters }, clock())
  }
  if (settings.protocol === 'saml' && received.protocol === 'saml')
    return finishOnce(kernel, connection, settings, { ...received, requestId: state })
  throw refuse.invalid_sso_flow()
}

/** Whom a SAML provider has named, if the assertion that says so has not been here before. */
async function finishOnce(
  kernel: Kernel,
  { connectionId, organizationId }: Pick<Connection, 'connectionId' | 'organizationId'>,
  identityProvider: SamlIdentityProvider,
  answered: { samlResponse: string; requestId: string },
): Promise<UpstreamPerson> {
  const { db, config, clock, rateLimits } = kernel
  const connection = { ...serviceProviderOf(config.baseUrl, connectionId), identityProvider }
  const answer = {
    ...answered,
    findKeys: () => openEncryptionKeys(kernel, connectionId, clock()),
    onSigned: () => rateLimits.count('signed saml answer of an organization', organizationId),
  }
  const { assertionId, notOnOrAfter, ...person } = await finishSaml(connection, answer, clock())
  // The sign-in that it answers is over by then, whatever the provider says: nobody can bring it to another one.
  const longest = secondsAfter(clock(), 2 * limits.flowLifetimeSeconds)
  const told = secondsAfter(notOnOrAfter, limits.clockSkewSecondsMax)
  const expiresAt = told < longest ? told : longest
  const isFirst = await assertionStore.insertAssertion(db, {
    connectionId,
    assertionSha256: sha256(assertionId),
    expiresAt,
  })
  if (!isFirst) throw refuseAnswer.sso_answer_invalid(because('assertion_used'))
  return person
}

/** What the SAML provider of a connection is told of us. Refuses `sso_not_available`. */
export async function describeServiceProvider({ db, config }: Kernel, connectionId: string): Promise<string> {
  const connection = isUuid(connectionId) ? await findConnection(db, connectionId) : undefined
  if (connection?.settings.protocol !== 'saml') throw refuse.sso_not_available()
  const certificate = await encryptionKeyStore.findCertificate(db, connectionId)
  return serviceProviderMetadata(serviceProviderOf(config.baseUrl, connectionId), certificate)
}

/** Notes whom the provider has named, or in the trail of the organization why it has named nobody. */
async function prove(kernel: Kernel, connection: Connection, flowId: string, finishing: Promise<UpstreamPerson>) {
  const { db, clock, log } = kernel
  const { connectionId, organizationId } = connection
  try {
    await store.setProved(db, flowId, await finishing, secondsAfter(clock(), limits.flowLifetimeSeconds))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const said = error.fields['because']
    const details = { connectionId, reason: error.code, ...(typeof said === 'string' && { because: said }) }
    log.info(details, 'the provider of an organization has signed nobody in')
    if (await isRecorded(kernel, connectionId))
      await record(db, { action: 'sso.failed', actor: 'system', organizationId, details }, clock())
    // Whoever brings answers to see what becomes of them learns no more than that this one is refused.
    throw new Refusal(error.status, error.code, error.message, { headers: error.headers })
  }
}

/**
 * Whether the trail is to tell why a sign-in has failed. Anybody can make it fail, and nothing is removed from the
 * trail: beyond a number it is in the log alone, so that nobody buries there what else has happened.
 */
async function isRecorded({ rateLimits }: Kernel, connectionId: string): Promise<boolean> {
  try {
    await rateLimits.count('recorded sso failure of a connection', connectionId)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

/** Deletes up to `batch` sign-ins whose time is over, and says how many. */
export function pruneFlows(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredFlows(db, now, batch)
}

/** Deletes up to `batch` assertions that count no more, and says how many. */
export function pruneAssertions(db: Database, now: Date, batch: number): Promise<number> {
  return assertionStore.deleteExpiredAssertions(db, now, batch)
}

/** The connection, in service and of an active organization. Refuses `sso_not_available` alike where it is not. */
export async function requireUsable(db: Database, connectionId: string, purpose: 'sign in' | 'test') {
  const usable = isUuid(connectionId) ? await findUsable(db, connectionId, purpose) : undefined
  if (!usable) throw refuse.sso_not_available()
  return usable
}

/** Whether an address is of one of our pages, so that nobody is led away who has just signed in. */
function isOurPage(address: string, { authUrl, businessUrl }: Config): boolean {
  const url = address.length <= returnAddressCharactersMax ? URL.parse(address) : null
  const isOurs = url?.origin === authUrl.origin || url?.origin === businessUrl.origin
  return isOurs && url.username === '' && url.password === '' && !url.pathname.startsWith('/api/')
}

const sealOf = (flowId: string) => `sso flow ${flowId}`

function newToken(): string {
  return randomBytes(32).toString('base64url')
}
