import type { MasterKey } from '@countersign/keys/master-key'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { call } from '../../lib/api/call.ts'
import { type Candidates, confirmPresence } from '../../lib/keys/presence.ts'
import type { Owner } from './flow.ts'
import { approvalRoleOf, challengeOf, findDifference, stateDisplayed } from './statement.ts'
import { type Confirmed, type Event, type Step, findNews } from './steps.ts'

const loadVault = () => import('../../lib/keys/key-vault.ts')

type SigningActionDeps = { step: () => Step; owner: () => Owner | undefined; rpId: string }
type Flow = {
  advance: (event: Event) => void
  read: () => Promise<void>
  ofTheirs: <T>(work: () => Promise<T>) => Promise<T | undefined>
}

/** The actions of the user on the signing request that is shown. */
export function useSigningActions(place: SigningActionDeps, { advance, read, ofTheirs }: Flow) {
  /** One use of a passkey proves presence and, with most passkeys, unlocks the key. */
  async function confirm(candidates: Candidates) {
    const request = await readAgain(place.step, read)
    const { user } = place.owner() ?? {}
    if (!request || !user) return
    const touched = await ofTheirs(() => touch(request, place.rpId, candidates))
    if (!touched) return
    // The key was replaced in the meantime. A request to the user has expired with the old key.
    if (touched === 'other key') return read()
    if ('differs' in touched) return advance({ type: 'stopped', why: touched.differs })
    const { keyWraps, used, ...confirmed } = touched
    const masterKey = await (await loadVault()).unlockWithPasskey(keyWraps, used, user.userId)
    if (!masterKey) return advance({ type: 'keys are shut', keyWraps, confirmed })
    await give(masterKey, request, confirmed)
  }

  /** After the recovery code or another device has unlocked the keys: the passkey has confirmed before. */
  async function signWith(masterKey: MasterKey) {
    const step = place.step()
    if (step.at !== 'enter code') return masterKey.forget()
    await give(masterKey, step.request, step.confirmed)
  }

  async function give(masterKey: MasterKey, request: SigningRequest, { statement, ...confirmed }: Confirmed) {
    const { requestId, payload, organization } = request
    const { flowId, key, credential, evidence } = confirmed
    const { adoptIfUnproved, signApproval } = await loadVault()
    const given = await ofTheirs(async () => {
      await adoptIfUnproved(masterKey, key)
      return { signed: await signApproval(masterKey, key, { text: payload, statement, evidence }) }
    }).finally(() => masterKey.forget())
    if (!given) return
    const { signed } = given
    if (!signed) return advance({ type: 'stopped', why: 'statement' })
    const { signature, approval } = signed
    const answer = { params: { requestId }, body: { signature, approval: { flowId, signature: approval, credential } } }
    const answered = await ofTheirs(() =>
      statement.role === 'approve'
        ? call('POST /api/signing/requests/:requestId/approve', answer)
        : call('POST /api/signing/requests/:requestId/sign', answer),
    )
    if (!answered) return
    if (organization) return read()
    const { status, publicKey, resolvedAt } = answered
    advance({
      type: 'request read',
      request: { ...request, status, signature, publicKey, ...(resolvedAt && { resolvedAt }) },
    })
  }

  async function deny() {
    const request = requestOf(place.step())
    if (!request) return
    const params = { requestId: request.requestId }
    const denied = await ofTheirs(() => call('POST /api/signing/requests/:requestId/deny', { params }))
    if (denied) advance({ type: 'request read', request: { ...request, ...denied } })
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
async function readAgain(current: () => Step, read: () => Promise<void>): Promise<SigningRequest | undefined> {
  const shown = requestOf(current())
  if (!shown?.organization) return shown
  await read()
  const step = current()
  return step.at === 'decide' && !findNews(shown, step.request) ? step.request : undefined
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

/** The request and the service that the user opened, by the address of this page. */
function ownAddress() {
  const requestId = new URLSearchParams(location.search).get('requestId') ?? ''
  return { requestId: requestId.toLowerCase(), issuer: location.origin }
}

function requestOf(step: Step): SigningRequest | undefined {
  return 'request' in step ? step.request : undefined
}
