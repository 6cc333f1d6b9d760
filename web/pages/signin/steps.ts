import { foldHandle } from '@countersign/protocol/formats/handle'
import type { RequirableClaim } from '@countersign/protocol/formats/required-claims'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { OrganizationChoice } from '@countersign/protocol/organizations/organization-context'
import type { Connector, KeyDelivery, Prompt, SilentEnd, Unverified, Withdrawal } from '@countersign/protocol/pages'
import type { Granted } from './consent/delegating.ts'

/**
 * What an identity has granted the app before, what is missing of what the app wants now, whether it has a key in it of
 * the mode that the app takes, and what the app may do already where it wants to act at another. Where the app asks for
 * an organization, those of the identity, and the one that this is for; with none the person goes as themselves.
 */
export type Grant = {
  exists: boolean
  missing: string[]
  hasKey?: boolean
  connector?: Granted
  organizations?: OrganizationChoice[]
  organization?: OrganizationChoice
  /** What the app requires of an identity and this one has not. */
  lacking?: RequirableClaim[]
  /** Whether the app may have what it wants of the user's organizations, as the user last left it. */
  organizationAccess?: boolean
}

/** Where a person is on the way back to the app. */
export type Step =
  | { at: 'look' }
  | { at: 'authenticate' }
  | { at: 'choose identity'; identities: Identity[]; mismatch: boolean; anew?: true }
  | { at: 'read grant'; identities: Identity[]; identity: Identity; anew?: true }
  | { at: 'choose organization'; identities: Identity[]; identity: Identity; read: Grant; mismatch: boolean }
  | { at: 'sign in there'; identities: Identity[]; identity: Identity; read: Grant; organization: OrganizationChoice }
  | { at: 'consent'; identities: Identity[]; identity: Identity; grant: Grant }
  | { at: 'unlock'; identities: Identity[]; identity: Identity; grant: Grant }
  | { at: 'enter code'; identities: Identity[]; identity: Identity; grant: Grant; keyWraps: KeyWrap[] }
  | { at: 'withdrawn'; why: Withdrawal }
  | { at: 'stopped'; to: string }
  | { at: 'leave'; identity: Identity | undefined }
  | { at: 'leave silently'; end: SilentEnd }
  | { at: 'ask to leave'; why: SilentEnd | Withdrawal }

export type Event =
  | { type: 'nobody signed in' }
  | { type: 'session found'; identities: Identity[]; ageSeconds: number }
  | { type: 'signed in'; identities: Identity[] }
  | { type: 'identity chosen'; identity: Identity }
  | { type: 'grant read'; grant: Grant }
  | { type: 'organization chosen'; organization: OrganizationChoice | undefined }
  | { type: 'another organization wanted' }
  | { type: 'identities changed'; identities: Identity[] }
  | { type: 'another identity wanted' }
  | { type: 'organization access switched'; allowed: boolean }
  | { type: 'keys needed' }
  | { type: 'keys are shut'; keyWraps: KeyWrap[] }
  | { type: 'turned back' }
  | { type: 'withdrawn'; why: Withdrawal }
  | { type: 'app is unknown' }
  | { type: 'led elsewhere'; to: string }
  | { type: 'approved' }
  | { type: 'denied' }

/**
 * What the app said about who should sign in, and how; with a key, one that the person's own keys must open; with a
 * connector, that it wants to act at another app; with an organization, for which it wants to be used.
 */
export type Wish = {
  identityId?: string
  loginHint?: string
  prompts: Prompt[]
  maxAgeSeconds?: number
  key?: KeyDelivery
  organization?: string
  unverified?: Unverified
  asksAnew?: true
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
      return {
        at: 'read grant',
        identities: step.identities,
        identity: event.identity,
        ...(step.anew && { anew: step.anew }),
      }
    case 'grant read':
      return step.at === 'read grant' ? chooseOrganization(step, event.grant, wish) : step
    case 'organization chosen':
      return step.at === 'choose organization' ? goFor(event.organization, step, step.read, wish) : step
    case 'another organization wanted':
      return step.at === 'sign in there'
        ? { ...personOf(step), at: 'choose organization', read: step.read, mismatch: false }
        : step
    case 'identities changed':
      return step.at === 'consent' ? readAnew(step.identity, event.identities) : step
    case 'another identity wanted':
      return 'identities' in step ? chooseAnew(step, wish) : step
    case 'organization access switched':
      return step.at === 'consent' ? { ...step, grant: { ...step.grant, organizationAccess: event.allowed } } : step
    case 'keys needed':
      return step.at === 'consent' ? { ...step, at: 'unlock' } : step
    case 'keys are shut':
      return mayApprove(step) ? { ...step, at: 'enter code', keyWraps: event.keyWraps } : step
    case 'turned back':
      return step.at === 'enter code' ? { ...step, at: 'unlock' } : step
    case 'withdrawn':
      return mayApprove(step) ? { at: 'withdrawn', why: event.why } : step
    case 'app is unknown':
      if (step.at === 'withdrawn') return { at: 'ask to leave', why: step.why }
      return step.at === 'leave silently' ? { at: 'ask to leave', why: step.end } : step
    case 'led elsewhere':
      return mayApprove(step) ? { at: 'stopped', to: event.to } : step
    case 'approved':
      return mayApprove(step) ? { at: 'leave', identity: step.identity } : step
    case 'denied':
      return deniable.includes(step.at) ? { at: 'leave', identity: undefined } : step
  }
}

/** The steps at which the person is asked something, and so may say no. */
const deniable: Step['at'][] = [
  'authenticate',
  'choose identity',
  'choose organization',
  'sign in there',
  'consent',
  'unlock',
  'enter code',
]

/** The steps from which the person goes to the app with what it asked for. */
export type Approving = Extract<Step, { grant: Grant }>

export function mayApprove(step: Step): step is Approving {
  return 'grant' in step
}

/**
 * Whether nothing is left to agree to: the identity granted the app all that it wants, here and at another app, and the
 * app wants neither a question nor a new key. A program on the device might be another one than the one that was
 * granted it. For an organization the app must act already.
 */
export function isSettled(
  { exists, missing, lacking = [], connector, organization }: Grant,
  { prompts, key, unverified, asksAnew }: Pick<Wish, 'prompts' | 'key' | 'unverified' | 'asksAnew'>,
): boolean {
  if (unverified?.onDevice || asksAnew || lacking.length > 0) return false
  const isGranted = exists && missing.length === 0 && connector?.covered !== false && organization?.known !== false
  return isGranted && !prompts.includes('consent') && key?.reset !== true
}

/**
 * Goes on for the organization that the app asked for, if the identity is in it; where the app leaves it to the person,
 * or they have thought again, they choose, if there is a choice.
 */
function chooseOrganization(step: Extract<Step, { at: 'read grant' }>, read: Grant, wish: Wish): Step {
  const { organizations } = read
  if (wish.organization === undefined || !organizations) return goFor(undefined, step, read, wish)
  const wished = organizations.find(({ id }) => id === wish.organization)
  if (wished && !step.anew) return goFor(wished, step, read, wish)
  const mismatch = !wished && wish.organization !== 'select'
  if (organizations.length === 0 && !mismatch) return goFor(undefined, step, read, wish)
  return { ...personOf(step), at: 'choose organization', read, mismatch }
}

/** The person as themselves, or for an organization: where that asks for its own sign-in first, they go there. */
function goFor(organization: OrganizationChoice | undefined, step: Person, read: Grant, { connector }: Wish): Step {
  if (organization?.loginUrl !== undefined) return { ...personOf(step), at: 'sign in there', read, organization }
  if (connector && !read.connector) return { at: 'withdrawn', why: 'invalid_target' }
  return { ...personOf(step), at: 'consent', grant: { ...read, ...(organization && { organization }) } }
}

/** As whom the person goes on, of whom they might be. */
type Person = { identities: Identity[]; identity: Identity }

const personOf = ({ identities, identity }: Person): Person => ({ identities, identity })

/** Asks again who it is that goes on; where the app asked for an organization, then also for which. */
function chooseAnew(step: Extract<Step, { identities: Identity[] }>, { organization }: Wish): Step {
  const { identities } = step
  if (organization !== undefined && identities.length === 1 && mayApprove(step))
    return { ...personOf(step), at: 'choose organization', read: withoutOrganization(step.grant), mismatch: false }
  return { at: 'choose identity', identities, mismatch: false, ...(organization !== undefined && { anew: true }) }
}

const withoutOrganization = ({ organization: _chosen, ...read }: Grant): Grant => read

function hasLeft({ at }: Step): boolean {
  return at === 'leave' || at === 'leave silently' || at === 'ask to leave' || at === 'stopped'
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
      if (step.grant.lacking?.length) return 'interaction_required'
      if (!isSettled(step.grant, { ...wish, prompts: [] })) return 'consent_required'
      // Its key opens by a passkey, or not at all.
      return wish.key ? 'interaction_required' : undefined
    case 'choose organization':
      return 'account_selection_required'
    case 'sign in there':
      return 'login_required'
    case 'unlock':
    case 'enter code':
      return 'interaction_required'
    case 'look':
    case 'read grant':
    case 'withdrawn':
    case 'stopped':
    case 'leave':
    case 'leave silently':
    case 'ask to leave':
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
