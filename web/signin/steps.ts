import { foldHandle } from '@countersign/protocol/formats/handle'
import type { Identity } from '@countersign/protocol/identities'
import type { KeyWrap } from '@countersign/protocol/keys'
import type { Connector, KeyDelivery, Prompt, SilentEnd, Unverified, Withdrawal } from '@countersign/protocol/pages'
import type { Granted } from './delegating.ts'

/**
 * What an identity has granted the app before, what is missing of what the app wants now, whether it has a key in it of
 * the mode that the app takes, and what the app may do already where it wants to act at another.
 */
export type Grant = { exists: boolean; missing: string[]; hasKey?: boolean; connector?: Granted }

/** Where a person is on the way back to the app. */
export type Step =
  | { at: 'look' }
  | { at: 'authenticate' }
  | { at: 'choose identity'; identities: Identity[]; mismatch: boolean }
  | { at: 'read grant'; identities: Identity[]; identity: Identity }
  | { at: 'consent'; identities: Identity[]; identity: Identity; grant: Grant }
  | { at: 'unlock'; identities: Identity[]; identity: Identity; grant: Grant }
  | { at: 'enter code'; identities: Identity[]; identity: Identity; grant: Grant; keyWraps: KeyWrap[] }
  | { at: 'withdrawn'; why: Withdrawal }
  | { at: 'leave'; identity: Identity | undefined }
  | { at: 'leave silently'; end: SilentEnd }

export type Event =
  | { type: 'nobody signed in' }
  | { type: 'session found'; identities: Identity[]; ageSeconds: number }
  | { type: 'signed in'; identities: Identity[] }
  | { type: 'identity chosen'; identity: Identity }
  | { type: 'grant read'; grant: Grant }
  | { type: 'identities changed'; identities: Identity[] }
  | { type: 'another identity wanted' }
  | { type: 'keys needed' }
  | { type: 'keys are shut'; keyWraps: KeyWrap[] }
  | { type: 'turned back' }
  | { type: 'withdrawn'; why: Withdrawal }
  | { type: 'approved' }
  | { type: 'denied' }

/**
 * What the app said about who should sign in, and how; with a key, one that the person's own keys must open; with a
 * connector, that it wants to act at another app.
 */
export type Wish = {
  identityId?: string
  loginHint?: string
  prompts: Prompt[]
  maxAgeSeconds?: number
  key?: KeyDelivery
  unverified?: Unverified
  connector?: Connector
}

/**
 * The step after an event; one that does not belong to the step, such as a late answer, changes nothing. What is
 * settled is skipped: an only identity is not chosen among. Where nothing may be asked, the first question is the end.
 */
export function nextStep(step: Step, event: Event, wish: Wish): Step {
  const next = stepAfter(step, event, wish)
  const end = wish.prompts.includes('none') ? endAt(next, wish) : undefined
  return end ? { at: 'leave silently', end } : next
}

function stepAfter(step: Step, event: Event, wish: Wish): Step {
  switch (event.type) {
    case 'nobody signed in':
      return hasLeft(step) ? step : { at: 'authenticate' }
    case 'session found':
      if (step.at !== 'look') return step
      return mustProveAnew(event.ageSeconds, wish) ? { at: 'authenticate' } : chooseFor(event.identities, wish)
    case 'signed in':
      return step.at === 'authenticate' ? chooseFor(event.identities, wish) : step
    case 'identity chosen':
      if (step.at !== 'choose identity') return step
      return { at: 'read grant', identities: step.identities, identity: event.identity }
    case 'grant read':
      return step.at === 'read grant' ? consentTo(step, event.grant, wish) : step
    case 'identities changed':
      return step.at === 'consent' ? readAnew(step.identity, event.identities) : step
    case 'another identity wanted':
      return 'identities' in step ? { at: 'choose identity', identities: step.identities, mismatch: false } : step
    case 'keys needed':
      return step.at === 'consent' ? { ...step, at: 'unlock' } : step
    case 'keys are shut':
      return mayApprove(step) ? { ...step, at: 'enter code', keyWraps: event.keyWraps } : step
    case 'turned back':
      return step.at === 'enter code' ? { ...step, at: 'unlock' } : step
    case 'withdrawn':
      return mayApprove(step) ? { at: 'withdrawn', why: event.why } : step
    case 'approved':
      return mayApprove(step) ? { at: 'leave', identity: step.identity } : step
    case 'denied':
      return deniable.includes(step.at) ? { at: 'leave', identity: undefined } : step
  }
}

/** The steps at which the person is asked something, and so may say no. */
const deniable: Step['at'][] = ['authenticate', 'choose identity', 'consent', 'unlock', 'enter code']

/** The steps from which the person goes to the app with what it asked for. */
export type Approving = Extract<Step, { grant: Grant }>

export function mayApprove(step: Step): step is Approving {
  return 'grant' in step
}

/**
 * Whether nothing is left to agree to: the identity granted the app all that it wants, here and at another app, and the
 * app wants neither a question nor a new key. A program on the device might be another one than the one that was
 * granted it.
 */
export function isSettled(
  { exists, missing, connector }: Grant,
  { prompts, key, unverified }: Pick<Wish, 'prompts' | 'key' | 'unverified'>,
): boolean {
  if (unverified?.onDevice) return false
  const isGranted = exists && missing.length === 0 && connector?.covered !== false
  return isGranted && !prompts.includes('consent') && key?.reset !== true
}

/** What there is to agree to; nothing, where the other app has given up what was asked for. */
function consentTo(step: Extract<Step, { at: 'read grant' }>, grant: Grant, { connector }: Wish): Step {
  if (connector && !grant.connector) return { at: 'withdrawn', why: 'invalid_target' }
  return { ...step, at: 'consent', grant }
}

function hasLeft({ at }: Step): boolean {
  return at === 'leave' || at === 'leave silently'
}

/** Whether the app wants a proof newer than the one that began the session. */
function mustProveAnew(ageSeconds: number, { prompts, maxAgeSeconds }: Wish): boolean {
  return prompts.includes('login') || (maxAgeSeconds !== undefined && ageSeconds > maxAgeSeconds)
}

/** What the app is told where a step would ask something; undefined for one that asks nothing. */
function endAt(step: Step, { prompts: _none, ...wish }: Wish): SilentEnd | undefined {
  switch (step.at) {
    case 'authenticate':
      return 'login_required'
    case 'choose identity':
      return step.mismatch ? 'login_required' : 'account_selection_required'
    case 'consent':
      if (!isSettled(step.grant, { ...wish, prompts: [] })) return 'consent_required'
      // Its key opens by a passkey, or not at all.
      return wish.key ? 'interaction_required' : undefined
    case 'unlock':
    case 'enter code':
      return 'interaction_required'
    case 'look':
    case 'read grant':
    case 'withdrawn':
    case 'leave':
    case 'leave silently':
      return undefined
  }
}

/** Reads the grant again for what has become of the identity, where it is still there. */
function readAnew({ identityId }: Identity, identities: Identity[]): Step {
  const identity = identities.find((each) => each.identityId === identityId)
  return identity ? { at: 'read grant', identities, identity } : { at: 'choose identity', identities, mismatch: false }
}

/** Goes on with the identity that the app asked for, or with the only one; else the person chooses. */
function chooseFor(identities: Identity[], wish: Wish): Step {
  const wished = identities.find((identity) => isWished(identity, wish))
  const mismatch = !wished && (wish.identityId !== undefined || wish.loginHint !== undefined)
  const only = identities.length === 1 && !mismatch ? identities[0] : undefined
  const identity = wish.prompts.includes('select_account') ? undefined : (wished ?? only)
  return identity ? { at: 'read grant', identities, identity } : { at: 'choose identity', identities, mismatch }
}

function isWished({ identityId, handle }: Identity, wish: Wish): boolean {
  if (wish.identityId !== undefined) return identityId === wish.identityId
  return wish.loginHint !== undefined && foldHandle(handle) === foldHandle(wish.loginHint)
}
