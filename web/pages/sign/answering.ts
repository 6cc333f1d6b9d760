import type { MasterKey } from '@countersign/keys/master-key'
import { limits } from '@countersign/protocol/formats/limits'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { call } from '../../lib/call.ts'
import { openKeys, openKeysInFrame, type Opened } from '../../lib/open-keys.ts'
import { withFreshProof } from '../../lib/passkey.ts'
import type { Owner } from './flow.ts'
import { roleOf } from './role.ts'
import type { Event, Step } from './steps.ts'

/** How long a touch may take before the proof that it relies on is too old. */
const touchSeconds = 60

const loadVault = () => import('../../lib/vault.ts')

type Place = { step: () => Step; owner: () => Owner | undefined; rpId: string; framed: boolean }
type Flow = {
  advance: (event: Event) => void
  read: () => Promise<void>
  ofTheirs: <T>(work: () => Promise<T>) => Promise<T | undefined>
}

/** What the person can do about the request that they are looking at. */
export function waysToAnswer(place: Place, { advance, read, ofTheirs }: Flow) {
  async function sign() {
    const { user } = place.owner() ?? {}
    const opened = user && (await ofTheirs(() => open(user.userId)))
    if (!opened) return
    const { masterKey, keyWraps } = opened
    if (!masterKey) return advance({ type: 'keys are shut', keyWraps })
    await signWith(masterKey)
  }

  /** Keys that a frame opens sign only what the server still accepts without a new proof of presence. */
  async function open(userId: string): Promise<Opened | undefined> {
    if (!place.framed) return openKeys(userId)
    const { secondsSinceAuthTime } = await call('GET /api/auth/session', {})
    if (secondsSinceAuthTime < limits.freshAuthenticationSeconds - touchSeconds)
      return openKeysInFrame(userId, place.rpId)
    advance({ type: 'proof needed' })
    return undefined
  }

  /** For those whose passkeys open nothing here. */
  async function useCode() {
    const wraps = await ofTheirs(() => call('GET /api/account/key-wraps', {}))
    if (wraps) advance({ type: 'keys are shut', ...wraps })
  }

  async function signWith(masterKey: MasterKey) {
    const request = requestOf(place.step())
    if (!request) return masterKey.forget()
    const signature = await ofTheirs(() => signatureBy(masterKey, request)).finally(() => masterKey.forget())
    // The key was replaced meanwhile, and the request has expired with the old one.
    if (signature === undefined) return read()
    const { requestId, organization } = request
    const given = { params: { requestId }, body: { signature } }
    const answer = () =>
      roleOf(request) === 'sign'
        ? call('POST /api/signing/requests/:requestId/sign', given)
        : call('POST /api/signing/requests/:requestId/approve', given)
    // A recovery code opens keys, and proves no presence. A frame can prove none.
    const answered = await ofTheirs(() => (place.framed ? answer() : withFreshProof(answer)))
    if (!answered) return
    if (organization) return read()
    const { status, publicKey, resolvedAt } = answered
    const signed = { ...request, status, signature, publicKey, ...(resolvedAt && { resolvedAt }) }
    advance({ type: 'request read', request: signed })
  }

  async function deny() {
    const request = requestOf(place.step())
    if (!request) return
    const params = { requestId: request.requestId }
    const denied = await ofTheirs(() => call('POST /api/signing/requests/:requestId/deny', { params }))
    if (denied) advance({ type: 'request read', request: { ...request, ...denied } })
  }

  return { sign, signWith, useCode, deny }
}

/** A signature of the text, by the key that its request names; `undefined` where that is not in force any more. */
async function signatureBy(masterKey: MasterKey, { identityId, publicKey, payload }: SigningRequest) {
  const key = await call('GET /api/signing/keys/:identityId', { params: { identityId } })
  if (!key.hasKey || key.publicKey !== publicKey) return undefined
  const { signText } = await loadVault()
  return signText(masterKey, key, payload)
}

function requestOf(step: Step): SigningRequest | undefined {
  return 'request' in step ? step.request : undefined
}
