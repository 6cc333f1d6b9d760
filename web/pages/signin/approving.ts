import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { AuthorizationResponse, ConnectorUnavailableReason, SignInView } from '@countersign/protocol/pages'
import { useRef } from 'preact/hooks'
import type { MasterKey } from '@countersign/keys/master-key'
import { showUserInChanges } from '../../components/frame/shown-user.ts'
import { ApiError, call } from '../../lib/api/call.ts'
import { submitRedirect } from '../../lib/navigation.ts'
import { type SignedIn, reauthenticate, withRecentAuthentication } from '../../lib/keys/passkey.ts'
import { type AuthorizeAnswer, type Outcome, consent, isByBrowser, storePlace } from './consent/agree.ts'
import { matchesRequest } from './requested-target.ts'
import { type Event, type Step, canApprove } from './steps.ts'

const loadVault = () => import('../../lib/keys/key-vault.ts')

/** The signed-in user, and their master key from its unlocking until the user leaves. */
export type Owner = { userId: string; masterKey?: MasterKey }

type ApprovalDeps = { step: () => Step; owner: { current: Owner | undefined } }
type Flow = {
  advance: (event: Event) => Promise<void>
  whileSignedIn: <T>(work: () => Promise<T>) => Promise<T | undefined>
}

/** The actions that take the user back to the app, with the app key if the app requests one. */
export function useApproval(view: SignInView, place: ApprovalDeps, { advance, whileSignedIn }: Flow) {
  const { unlock, useCode, forgetKeys } = waysToUnlock(view, place, { advance, whileSignedIn })
  const mayHandOver = handOverGuard(view, advance)
  const waiting = useRef<AuthorizeAnswer | undefined>(undefined)

  /** The passkey that signed the user in may have unlocked their keys too. */
  async function signedIn({ user, identities, keyWraps, used }: SignedIn, identityId?: string) {
    showUserInChanges(user)
    const masterKey = view.key && (await (await loadVault()).unlockWithPasskey(keyWraps, used, user.userId))
    place.owner.current = { ...user, ...(masterKey && { masterKey }) }
    await advance({ type: 'signed in', identities, identityId })
  }

  /** Continues if there is nothing to consent to. Locked keys need another assertion, which the page asks for. */
  async function goOn() {
    if (!takesKey(view, place.step()) || place.owner.current?.masterKey) return approve()
    await advance({ type: 'keys needed' })
    const shut = await whileSignedIn(readKeyWraps)
    if (shut && !shut.some(({ kind }) => kind === 'passkey_prf'))
      await advance({ type: 'keys are shut', keyWraps: shut })
  }

  async function approve() {
    if (!mayHandOver()) return
    const takes = takesKey(view, place.step())
    const masterKey = takes ? (place.owner.current?.masterKey ?? (await whileSignedIn(unlock))) : undefined
    if (!takes || masterKey) await approveWith(masterKey)
  }

  /** Approves the request, without keys if the app takes none. The keys are discarded afterwards. */
  async function approveWith(masterKey: MasterKey | undefined) {
    const approving = place.step()
    if (!canApprove(approving) || !mayHandOver()) return
    if (place.owner.current && masterKey) place.owner.current = { ...place.owner.current, masterKey }
    const agree = () => withRecentAuthentication(() => consent(view, approving, masterKey), view.requestUri)
    await leaveWith(await whileSignedIn(() => agree().catch((error: unknown) => endBy(error, view))))
  }

  /** Goes where a consent leads, if it does, or asks what it depends on. */
  async function leaveWith(outcome: Outcome | ConnectorUnavailableReason | undefined): Promise<void> {
    if (!outcome) return
    if (typeof outcome === 'string') return advance({ type: 'withdrawn', why: outcome })
    if ('place' in outcome) {
      waiting.current = outcome.answer
      return advance({ type: 'place is new', place: outcome.place })
    }
    forgetKeys()
    if ('ledTo' in outcome) return advance({ type: 'led elsewhere', to: outcome.ledTo })
    await advance({ type: 'approved' })
    submitRedirect(outcome)
  }

  /** Lets the app receive its key at the address that the user was shown, and continues from where they were asked. */
  async function confirmPlace(): Promise<void> {
    const shown = place.step()
    if (shown.at !== 'confirm place' || !mayHandOver()) return
    const masterKey = place.owner.current?.masterKey ?? (await whileSignedIn(unlock))
    if (!masterKey) return
    const store = () => storePlace(view, masterKey, shown, waiting.current)
    const next = await whileSignedIn(() => withRecentAuthentication(store, view.requestUri))
    if (!next) return
    waiting.current = undefined
    if ('outcome' in next) return leaveWith(next.outcome)
    await advance({ type: 'place confirmed', storedKey: next.storedKey })
    await approveWith(masterKey)
  }

  return { signedIn, goOn, approve, approveWith, confirmPlace, useCode, forgetKeys }
}

/** Tells if the keys must be unlocked. A FedCM dialog delivers only a key that exists. */
function takesKey(view: SignInView, step: Step): boolean {
  if (!view.key) return false
  return !isByBrowser(view) || (canApprove(step) && step.grant.storedKey !== undefined)
}

/** Tells if the app key would go where the app's own request says. Otherwise the flow stops. */
function handOverGuard(view: SignInView, advance: Flow['advance']) {
  return function mayHandOver(): boolean {
    if (!view.key || matchesRequest(view, location.search)) return true
    void advance({ type: 'led elsewhere', to: view.redirectUri })
    return false
  }
}

/** The actions that unlock the user's keys, and discard them. */
function waysToUnlock(view: SignInView, place: ApprovalDeps, { advance, whileSignedIn }: Flow) {
  /** Unlocks the keys with a passkey, or else asks for the recovery code. */
  async function unlock(): Promise<MasterKey | undefined> {
    const { masterKey, keyWraps } = await openWithPresence(place.owner.current?.userId ?? '', view.requestUri)
    if (!masterKey) await advance({ type: 'keys are shut', keyWraps })
    return masterKey
  }

  async function useCode() {
    const keyWraps = await whileSignedIn(readKeyWraps)
    if (keyWraps) await advance({ type: 'keys are shut', keyWraps })
  }

  function forgetKeys() {
    place.owner.current?.masterKey?.forget()
    if (place.owner.current) place.owner.current = { userId: place.owner.current.userId }
  }

  return { unlock, useCode, forgetKeys }
}

/** Maps a rejected consent. If prompts are forbidden and the sign-in is too old, the browser returns to the app. */
function endBy(error: unknown, view: SignInView): ConnectorUnavailableReason | AuthorizationResponse {
  const tooOld = error instanceof ApiError && error.code === 'login_required'
  return tooOld && view.silently ? view.silently.login_required : withdrawalBy(error, view)
}

/** Returns why a consent came too late: the other app no longer offers what was requested. */
function withdrawalBy(error: unknown, { connector }: SignInView): ConnectorUnavailableReason {
  if (!connector || !(error instanceof ApiError)) throw error
  if (error.code !== 'invalid_target' && error.code !== 'invalid_scope') throw error
  return error.code
}

async function readKeyWraps(): Promise<KeyWrap[]> {
  return (await call('GET /api/account/key-wraps', {})).keyWraps
}

/**
 * Unlocks the keys with an assertion that also re-authenticates the user, because a new key requires that. Without a
 * passkey that unlocks keys, returns the key wraps and asks for no assertion.
 */
async function openWithPresence(
  userId: string,
  requestUri: string | undefined,
): Promise<{ keyWraps: KeyWrap[]; masterKey?: MasterKey }> {
  const [vault, keyWraps] = await Promise.all([loadVault(), readKeyWraps()])
  if (!keyWraps.some(({ kind }) => kind === 'passkey_prf')) return { keyWraps }
  const used = await reauthenticate(await vault.prfSalt(), { requestUri })
  const masterKey = await vault.unlockWithPasskey(keyWraps, used, userId)
  return { keyWraps, ...(masterKey && { masterKey }) }
}
