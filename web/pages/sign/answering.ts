import type { MasterKey } from '@countersign/keys/master-key'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { call } from '../../lib/api/call.ts'
import { type Candidates, confirmPresence } from '../../lib/keys/presence.ts'
import type { CurrentStep } from './current-step.ts'
import type { Owner } from './flow.ts'
import { approvalRoleOf, challengeOf, findDifference, stateDisplayed } from './statement.ts'
import type { Confirmed, Event, Step } from './steps.ts'

const loadVault = () => import('../../lib/keys/key-vault.ts')

type SigningActionDeps = { current: CurrentStep; owner: () => Owner | undefined; rpId: string }
type Flow = {
  advance: (event: Event) => void
  read: () => Promise<void>
  ofTheirs: <T>(work: () => Promise<T>) => Promise<T | undefined>
}

type Giving = { request: SigningRequest; confirmed: Confirmed; isShown: () => boolean }

type Signed = { signature: string; approval: string }

/** The actions of the user on the signing request that is shown. */
export function useSigningActions(place: SigningActionDeps, { advance, read, ofTheirs }: Flow) {
  const { current } = place

  /** One use of a passkey proves presence and, with most passkeys, unlocks the key. */
  async function confirm(candidates: Candidates) {
    const isShown = current.watch()
    const request = await readAgain(current, read)
    const { user } = place.owner() ?? {}
    if (!request || !user) return
    const touched = await ofTheirs(() => touch(request, place.rpId, candidates))
    if (!touched || !isShown()) return
    // The key was replaced in the meantime. A request to the user has expired with the old key.
    if (touched === 'other key') return read()
    if ('differs' in touched) return advance({ type: 'stopped', why: touched.differs })
    const { keyWraps, used, ...confirmed } = touched
    const masterKey = await (await loadVault()).unlockWithPasskey(keyWraps, used, user.userId)
    if (masterKey) return give(masterKey, { request, confirmed, isShown })
    if (isShown()) advance({ type: 'keys are shut', request, keyWraps, confirmed })
  }

  /** After the recovery code or another device has unlocked the keys: the passkey has confirmed before. */
  async function signWith(masterKey: MasterKey) {
    const step = current.get()
    if (step.at !== 'enter code') return masterKey.forget()
    await give(masterKey, { ...step, isShown: current.watch() })
  }

  /** Signs and sends what the passkey has confirmed, as long as the page shows it. */
  async function give(masterKey: MasterKey, giving: Giving) {
    const { request, confirmed, isShown } = giving
    const given = await ofTheirs(() => signShown(masterKey, giving)).finally(() => masterKey.forget())
    if (!given || !isShown()) return
    const { signed } = given
    if (!signed) return advance({ type: 'stopped', why: 'statement' })
    const answered = await send(() => postAnswer(request, confirmed, signed))
    if (!answered) return
    if (request.organization) {
      advance({ type: 'answer accepted' })
      return read()
    }
    const { status, publicKey, resolvedAt } = answered
    advance({
      type: 'request read',
      request: { ...request, status, signature: signed.signature, publicKey, ...(resolvedAt && { resolvedAt }) },
    })
  }

  async function deny() {
    const request = requestOf(current.get())
    if (!request) return
    const params = { requestId: request.requestId }
    const denied = await send(() => call('POST /api/signing/requests/:requestId/deny', { params }))
    if (denied) advance({ type: 'request read', request: { ...request, ...denied } })
  }

  function send<T>(work: () => Promise<T>): Promise<T | undefined> {
    return ofTheirs(() => current.send(work))
  }

  return {
    sign: () => confirm('those that unlock keys'),
    /** For users whose passkeys unlock no keys on this device. */
    useCode: () => confirm('all'),
    signWith,
    deny,
  }
}

/**
 * Returns the request to sign. That of an organization is read again: if another member has answered since, users see
 * that first, and decide again.
 */
async function readAgain(current: CurrentStep, read: () => Promise<void>): Promise<SigningRequest | undefined> {
  const shown = requestOf(current.get())
  if (!shown?.organization) return shown
  const isShown = current.watch()
  await read()
  return isShown() ? requestOf(current.get()) : undefined
}

/** Starts the approval of what is shown, and lets the user confirm it with a passkey. */
async function touch(request: SigningRequest, rpId: string, candidates: Candidates) {
  const { requestId, identityId } = request
  const [started, key, { keyWraps }, { passkeys }, vault] = await Promise.all([
    call('POST /api/signing/requests/:requestId/approval', {
      params: { requestId },
      body: { role: approvalRoleOf(request) },
    }),
    call('GET /api/signing/keys/:identityId', { params: { identityId } }),
    call('GET /api/account/key-wraps', {}),
    call('GET /api/auth/passkeys', {}),
    loadVault(),
  ])
  if (!key.hasKey || key.publicKey !== request.publicKey) return 'other key'
  const statement = await stateDisplayed({ request, ...ownAddress() }, key, started)
  const differs = findDifference(statement, started, Date.now())
  if (differs) return { differs }
  const challenge = await challengeOf(statement)
  const confirmed = await confirmPresence({
    ...{ rpId, challenge, candidates, passkeys, keyWraps },
    salt: await vault.prfSalt(),
  })
  return { flowId: started.flowId, statement, key, keyWraps, ...confirmed }
}

/** Signs what the passkey has confirmed. Returns undefined if the page does not show that any more. */
async function signShown(masterKey: MasterKey, { request, confirmed, isShown }: Giving) {
  const { statement, key, evidence } = confirmed
  const { adoptIfUnproved, signApproval } = await loadVault()
  if (isShown()) await adoptIfUnproved(masterKey, key)
  if (!isShown()) return undefined
  return { signed: await signApproval(masterKey, key, { text: request.payload, statement, evidence }) }
}

function postAnswer({ requestId }: SigningRequest, confirmed: Confirmed, signed: Signed) {
  const { flowId, statement, credential } = confirmed
  const { signature, approval } = signed
  const answer = { params: { requestId }, body: { signature, approval: { flowId, signature: approval, credential } } }
  return statement.role === 'approve'
    ? call('POST /api/signing/requests/:requestId/approve', answer)
    : call('POST /api/signing/requests/:requestId/sign', answer)
}

/** The request and the service that the user opened, by the address of this page. */
function ownAddress() {
  const requestId = new URLSearchParams(location.search).get('requestId') ?? ''
  return { requestId: requestId.toLowerCase(), issuer: location.origin }
}

function requestOf(step: Step): SigningRequest | undefined {
  return 'request' in step ? step.request : undefined
}
