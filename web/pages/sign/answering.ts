import type { MasterKey } from '@countersign/keys/master-key'
import { limits } from '@countersign/protocol/formats/limits'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { call } from '../../lib/api/call.ts'
import { type Opened, openKeysInFrame, unlockKeys } from '../../lib/keys/unlock.ts'
import { withRecentAuthentication } from '../../lib/keys/passkey.ts'
import type { Owner } from './flow.ts'
import { type Event, type Step, roleOf } from './steps.ts'

/** The maximum time that a passkey dialog takes before the authentication is too old. */
const touchSeconds = 60

const loadVault = () => import('../../lib/keys/key-vault.ts')

type SigningActionDeps = { step: () => Step; owner: () => Owner | undefined; rpId: string; framed: boolean }
type Flow = {
  advance: (event: Event) => void
  read: () => Promise<void>
  ofTheirs: <T>(work: () => Promise<T>) => Promise<T | undefined>
}

/** The actions of the user on the signing request that is shown. */
export function useSigningActions(place: SigningActionDeps, { advance, read, ofTheirs }: Flow) {
  async function sign() {
    const { user } = place.owner() ?? {}
    const opened = user && (await ofTheirs(() => open(user.userId)))
    if (!opened) return
    const { masterKey, keyWraps } = opened
    if (!masterKey) return advance({ type: 'keys are shut', keyWraps })
    await signWith(masterKey)
  }

  /** Unlocks the keys. In a frame, that works only while the last authentication is recent enough for the server. */
  async function open(userId: string): Promise<Opened | undefined> {
    if (!place.framed) return unlockKeys(userId)
    const { secondsSinceAuthTime } = await call('GET /api/auth/session', {})
    if (secondsSinceAuthTime < limits.freshAuthenticationSeconds - touchSeconds)
      return openKeysInFrame(userId, place.rpId)
    advance({ type: 'proof needed' })
    return undefined
  }

  /** For users whose passkeys unlock no keys on this device. */
  async function useCode() {
    const wraps = await ofTheirs(() => call('GET /api/account/key-wraps', {}))
    if (wraps) advance({ type: 'keys are shut', ...wraps })
  }

  async function signWith(masterKey: MasterKey) {
    const request = requestOf(place.step())
    if (!request) return masterKey.forget()
    const signature = await ofTheirs(() => signatureBy(masterKey, request)).finally(() => masterKey.forget())
    // The key was replaced in the meantime, and the request has expired with the old key.
    if (signature === undefined) return read()
    const { requestId, organization } = request
    const given = { params: { requestId }, body: { signature } }
    const answer = () =>
      roleOf(request) === 'sign'
        ? call('POST /api/signing/requests/:requestId/sign', given)
        : call('POST /api/signing/requests/:requestId/approve', given)
    // A recovery code unlocks keys, but does not re-authenticate. A frame cannot re-authenticate.
    const answered = await ofTheirs(() => (place.framed ? answer() : withRecentAuthentication(answer)))
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

/** Signs the payload with the key that the request names. Returns undefined if that key was replaced. */
async function signatureBy(masterKey: MasterKey, { identityId, publicKey, payload }: SigningRequest) {
  const key = await call('GET /api/signing/keys/:identityId', { params: { identityId } })
  if (!key.hasKey || key.publicKey !== publicKey) return undefined
  const { adoptIfUnproved, signText } = await loadVault()
  await adoptIfUnproved(masterKey, key)
  return signText(masterKey, key, payload)
}

function requestOf(step: Step): SigningRequest | undefined {
  return 'request' in step ? step.request : undefined
}
