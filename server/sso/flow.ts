import { randomUUID } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { Value } from 'typebox/value'
import { record } from '#kernel/audit.ts'
import { secondsAfter } from '#kernel/clock.ts'
import type { Config } from '#kernel/config.ts'
import type { Database } from '#kernel/database.ts'
import { sha256 } from '#kernel/digest.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { randomBytes } from '#kernel/random.ts'
import { Refusal, refusals } from '#kernel/refusal.ts'
import { isUuid } from '#kernel/token-format.ts'
import { findUsable, openClient, type Connection } from './connection.ts'
import { beginOidc, finishOidc, OidcMemory } from './oidc.ts'
import { deleteExpiredFlows, insertFlow, setProved, takeAnswered, takeOffer } from './store.ts'
import type { UpstreamPerson } from './upstream.ts'

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
}

/**
 * Begins a sign-in with a connection; answers where the browser goes, and what it is bound by. Refuses
 * `invalid_request`, `sso_not_available`, `invalid_sso_flow`, and as `beginOidc` does.
 */
export async function beginFlow(kernel: Kernel, start: Start): Promise<{ location: string; browserToken: string }> {
  const { db, keyring, outbound, config, clock } = kernel
  const { connectionId, returnTo, loginHint, test, browserToken = newToken() } = start
  if (returnTo !== undefined && !isOurPage(returnTo, config)) throw refuse.invalid_request()
  const purpose = test === undefined ? 'sign in' : 'test'
  const { connection } = await requireUsable(db, connectionId, purpose)
  if (test !== undefined && !(await takeOffer(db, connectionId, sha256(test), clock()))) throw refuse.invalid_sso_flow()

  const [flowId, state] = [randomUUID(), newToken()]
  const client = await openClient(kernel, connection)
  const { location, memory } = await beginOidc(outbound, client, { state, ...(loginHint && { loginHint }) })
  await insertFlow(db, {
    flowId,
    connectionId,
    purpose,
    step: 'begun',
    stateSha256: sha256(state),
    browserSha256: sha256(browserToken),
    sealedMemory: await keyring.seal(sealOf(flowId), JSON.stringify(memory)),
    ...(returnTo !== undefined && { returnTo }),
    expiresAt: secondsAfter(clock(), limits.flowLifetimeSeconds),
  })
  return { location, browserToken }
}

/** Offers a test sign-in to whoever looks after a connection; answers what begins it, once. */
export async function offerTest(db: Database, connectionId: string, now: Date): Promise<string> {
  const test = newToken()
  const offer = { flowId: randomUUID(), connectionId, purpose: 'test', step: 'offered' } as const
  const expiresAt = secondsAfter(now, limits.flowLifetimeSeconds)
  await insertFlow(db, { ...offer, stateSha256: sha256(test), expiresAt })
  return test
}

/** What a provider has sent the browser back with. */
export type Answer = { connectionId: string; browserToken: string | undefined; parameters: URLSearchParams }

/**
 * Takes the answer of an OpenID provider to a sign-in that this browser has begun, once; whatever is wrong with it, it
 * is over, and the trail of the organization tells why. Answers the id of the sign-in, whose person is known now.
 * Refuses `invalid_sso_flow`, `sso_not_available`, and as `finishOidc` does.
 */
export async function takeAnswer(kernel: Kernel, { connectionId, browserToken, parameters }: Answer): Promise<string> {
  const { db, outbound, keyring, clock } = kernel
  const [state = '', ...others] = parameters.getAll('state')
  if (browserToken === undefined || others.length > 0 || !isUuid(connectionId)) throw refuse.invalid_sso_flow()
  const sought = { connectionId, stateSha256: sha256(state), browserSha256: sha256(browserToken) }
  const flow = await takeAnswered(db, sought, clock())
  if (!flow) throw refuse.invalid_sso_flow()

  const { connection } = await requireUsable(db, connectionId, flow.purpose)
  const memory = Value.Parse(OidcMemory, JSON.parse(await keyring.open(sealOf(flow.flowId), flow.sealedMemory ?? '')))
  const client = await openClient(kernel, connection)
  const finishing = finishOidc(outbound, client, { memory, state, answer: parameters }, clock())
  await prove(kernel, connection, flow.flowId, finishing)
  return flow.flowId
}

/** Notes whom the provider has named, or in the trail of the organization why it has named nobody. */
async function prove(kernel: Kernel, connection: Connection, flowId: string, finishing: Promise<UpstreamPerson>) {
  const { db, clock, log } = kernel
  const { connectionId, organizationId } = connection
  try {
    await setProved(db, flowId, await finishing, secondsAfter(clock(), limits.flowLifetimeSeconds))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { because } = error.fields
    const details = { connectionId, reason: error.code, ...(typeof because === 'string' && { because }) }
    log.info(details, 'the provider of an organization has signed nobody in')
    await record(db, { action: 'sso.failed', actor: 'system', organizationId, details }, clock())
    throw error
  }
}

/** Deletes up to `batch` sign-ins whose time is over, and says how many. */
export function pruneFlows(db: Database, now: Date, batch: number): Promise<number> {
  return deleteExpiredFlows(db, now, batch)
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
