import { normalizeHandle } from '@countersign/protocol/formats/handle'
import type { RequirableClaim } from '@countersign/protocol/formats/required-claims'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { OrganizationChoice } from '@countersign/protocol/organizations/organizations'
import type { SignInView, SilentRedirect, ConnectorUnavailableReason } from '@countersign/protocol/pages'
import type { ExistingDelegation } from './consent/delegating.ts'
import type { StoredAppKey } from '../../lib/keys/stored-app-key.ts'
import type { NewPlace } from './consent/delivery.ts'

/**
 * The previous consent of an identity to the app: the requested scopes that it lacks, the app key of the requested
 * mode if there is one, and the existing delegation if the app requests one. If the app requests an organization, also
 * the organizations of the identity, and the chosen one. Without it, users act as themselves.
 */
export type Grant = {
  exists: boolean
  missing: string[]
  storedKey?: StoredAppKey
  connector?: ExistingDelegation
  organizations?: OrganizationChoice[]
  organization?: OrganizationChoice
  /** The required claims that the identity lacks. */
  lacking?: RequirableClaim[]
  /** Whether the app may have the requested access to the user's organizations, by the user's last choice. */
  organizationAccess?: boolean
  /** The identity may not use the app, or `elsewhere` the other app, which has this name. */
  accessDenied?: AccessDenied
}

export type AccessDenied = { contact: string | null; elsewhere?: string }

/** The steps of an authorization request. */
export type Step =
  | { at: 'look' }
  /** `forOrganization` if the session that SSO opened cannot use the app for this organization yet. */
  | { at: 'authenticate'; forOrganization?: string }
  | { at: 'choose identity'; identities: Identity[]; mismatch: boolean; again?: true; from?: Chosen }
  | { at: 'read grant'; identities: Identity[]; identity: Identity; again?: true }
  | {
      at: 'choose organization'
      identities: Identity[]
      identity: Identity
      read: Grant
      mismatch: boolean
      from?: Chosen
    }
  | { at: 'sign in there'; identities: Identity[]; identity: Identity; read: Grant; organization: OrganizationChoice }
  | { at: 'consent'; identities: Identity[]; identity: Identity; grant: Grant }
  | { at: 'unlock'; identities: Identity[]; identity: Identity; grant: Grant }
  | { at: 'enter code'; identities: Identity[]; identity: Identity; grant: Grant; keyWraps: KeyWrap[] }
  | { at: 'confirm place'; identities: Identity[]; identity: Identity; grant: Grant; place: NewPlace }
  | ({ at: 'no access'; identities: Identity[]; identity: Identity } & AccessDenied)
  | { at: 'withdrawn'; why: ConnectorUnavailableReason }
  | { at: 'stopped'; to: string }
  | { at: 'leave'; identity: Identity | undefined }
  | { at: 'leave silently'; end: SilentRedirect }
  | { at: 'ask to leave'; why: SilentRedirect | ConnectorUnavailableReason }

/** A step whose choice the user changes: they can return to it. */
export type Chosen = Extract<Step, { identity: Identity; grant: Grant } | { at: 'sign in there' }>

export type Event =
  | { type: 'nobody signed in' }
  | { type: 'session found'; identities: Identity[]; ageSeconds: number }
  /** `identityId` is the one as which the user chose to continue, before they signed in. */
  | { type: 'signed in'; identities: Identity[]; identityId?: string | undefined }
  | { type: 'identity chosen'; identity: Identity }
  | { type: 'identity added'; identity: Identity }
  | { type: 'change cancelled' }
  | { type: 'grant read'; grant: Grant }
  | { type: 'organization chosen'; organization: OrganizationChoice | undefined }
  | { type: 'another organization wanted' }
  | { type: 'identities changed'; identities: Identity[] }
  | { type: 'another identity wanted' }
  | { type: 'organization access switched'; allowed: boolean }
  | { type: 'keys needed' }
  | { type: 'keys are shut'; keyWraps: KeyWrap[] }
  | { type: 'turned back' }
  | { type: 'place is new'; place: NewPlace }
  | { type: 'place confirmed'; storedKey: StoredAppKey }
  | { type: 'withdrawn'; why: ConnectorUnavailableReason }
  | { type: 'app is unknown' }
  | { type: 'led elsewhere'; to: string }
  | { type: 'approved' }
  | { type: 'denied' }

/**
 * The parameters of an authorization request that decide the steps. `key`: the requested app key, which the user's keys
 * decrypt. `connector`: the requested delegation. `organization`: the requested organization.
 */
export type SignInRequest = Pick<SignInView, 'prompts' | 'identityId' | 'loginHint' | 'maxAgeSeconds' | 'key'> &
  Pick<SignInView, 'organization' | 'organizationAccess' | 'unverified' | 'asksAnew' | 'connector'> &
  Partial<Pick<SignInView, 'scope'>>

/**
 * Returns whether a session that SSO opened can answer the request. It is limited to one organization, has no keys,
 * cannot create delegations, never counts as a recent authentication, and does not reveal the account. An app for which
 * organizations do not exist would take it for one of the user.
 */
export function acceptsSso(request: SignInRequest): boolean {
  const { organization, organizationAccess, scope, key, connector, prompts, maxAgeSeconds } = request
  if (organization === undefined || organizationAccess === undefined || key || connector) return false
  return !prompts.includes('login') && maxAgeSeconds === undefined && scope?.includes('user_id') !== true
}

/**
 * Returns the step after an event. An event that does not belong to the step, such as a late response, changes nothing.
 * Settled steps are skipped, such as the choice of the only identity. With `prompt=none`, the first step with a prompt
 * ends the flow.
 */
export function nextStep(step: Step, event: Event, request: SignInRequest): Step {
  const next = stepAfter(step, event, request)
  const end = request.prompts.includes('none') ? endAt(next, request) : undefined
  return end ? { at: 'leave silently', end } : next
}

function stepAfter(step: Step, event: Event, request: SignInRequest): Step {
  switch (event.type) {
    case 'nobody signed in':
      return hasLeft(step) ? step : { at: 'authenticate' }
    case 'session found':
      if (step.at !== 'look') return step
      return mustReauthenticate(event.ageSeconds, request)
        ? { at: 'authenticate' }
        : chooseFor(event.identities, request)
    case 'signed in':
      return step.at === 'authenticate' ? chooseFor(event.identities, request, event.identityId) : step
    case 'identity chosen':
      return step.at === 'choose identity' ? readGrantOf(event.identity, step) : step
    case 'identity added':
      if (step.at !== 'choose identity') return step
      return readGrantOf(event.identity, { ...step, identities: [...step.identities, event.identity] })
    case 'change cancelled':
      return 'from' in step && step.from ? step.from : step
    case 'grant read':
      return step.at === 'read grant' ? chooseOrganization(step, event.grant, request) : step
    case 'organization chosen':
      return step.at === 'choose organization' ? goFor(event.organization, step, step.read, request) : step
    case 'another organization wanted':
      return step.at === 'sign in there'
        ? { ...personOf(step), at: 'choose organization', read: step.read, mismatch: false, from: step }
        : step
    case 'identities changed':
      return step.at === 'consent' ? readGrantAgain(step.identity, event.identities) : step
    case 'another identity wanted':
      return 'identities' in step ? chooseAgain(step, request) : step
    case 'organization access switched':
      return step.at === 'consent' ? { ...step, grant: { ...step.grant, organizationAccess: event.allowed } } : step
    case 'keys needed':
      return step.at === 'consent' ? { ...step, at: 'unlock' } : step
    case 'keys are shut':
      return canApprove(step) ? { ...step, at: 'enter code', keyWraps: event.keyWraps } : step
    case 'turned back':
      return step.at === 'enter code' ? { ...step, at: 'unlock' } : step
    case 'place is new':
      return canApprove(step) ? { ...step, at: 'confirm place', place: event.place } : step
    case 'place confirmed':
      return step.at === 'confirm place'
        ? { ...personOf(step), at: 'unlock', grant: { ...step.grant, storedKey: event.storedKey } }
        : step
    case 'withdrawn':
      return canApprove(step) ? { at: 'withdrawn', why: event.why } : step
    case 'app is unknown':
      if (step.at === 'withdrawn') return { at: 'ask to leave', why: step.why }
      return step.at === 'leave silently' ? { at: 'ask to leave', why: step.end } : step
    case 'led elsewhere':
      return canApprove(step) ? { at: 'stopped', to: event.to } : step
    case 'approved':
      return canApprove(step) ? { at: 'leave', identity: step.identity } : step
    case 'denied':
      return deniable.includes(step.at) ? { at: 'leave', identity: undefined } : step
  }
}

function readGrantOf(
  identity: Identity,
  { identities, again }: Pick<Extract<Step, { at: 'choose identity' }>, 'identities' | 'again'>,
): Step {
  return { at: 'read grant', identities, identity, ...(again && { again }) }
}

/** The steps that ask the user something, so that they can deny the request. */
const deniable: Step['at'][] = [
  'authenticate',
  'choose identity',
  'choose organization',
  'sign in there',
  'no access',
  'consent',
  'unlock',
  'enter code',
  'confirm place',
]

/** The steps that can approve the request. */
export type Approving = Extract<Step, { grant: Grant }>

export function canApprove(step: Step): step is Approving {
  return 'grant' in step
}

/**
 * Returns whether no consent is needed: the identity has granted the app all that it requests, here and at the other
 * app, and the app requests neither a prompt nor a new key. A native app always needs consent, because another program
 * may use its client ID. The app must already be used for the chosen organization.
 */
export function isSettled(
  { exists, missing, lacking = [], connector, organization }: Grant,
  { prompts, key, unverified, asksAnew }: Pick<SignInRequest, 'prompts' | 'key' | 'unverified' | 'asksAnew'>,
): boolean {
  if (unverified?.onDevice || asksAnew || lacking.length > 0) return false
  const isGranted = exists && missing.length === 0 && connector?.covered !== false && organization?.known !== false
  return isGranted && !prompts.includes('consent') && key?.reset !== true
}

/**
 * Stops if the identity has no access. Continues with the organization that the app requested, if the identity is a
 * member. If the app leaves the choice to the user, or the user wants to change it, they choose, unless there is
 * nothing to choose.
 */
function chooseOrganization(step: Extract<Step, { at: 'read grant' }>, read: Grant, request: SignInRequest): Step {
  const { organizations, accessDenied } = read
  if (accessDenied) return { ...personOf(step), at: 'no access', ...accessDenied }
  if (request.organization === undefined || !organizations) return goFor(undefined, step, read, request)
  const requested = organizations.find(({ id }) => id === request.organization)
  if (requested && !step.again) return goFor(requested, step, read, request)
  const mismatch = !requested && request.organization !== 'select'
  if (organizations.length === 0 && !mismatch) return goFor(undefined, step, read, request)
  return { ...personOf(step), at: 'choose organization', read, mismatch }
}

/** Continues as the user themselves or for an organization. An organization that requires SSO comes after its login. */
function goFor(
  organization: OrganizationChoice | undefined,
  step: Person,
  read: Grant,
  { connector }: SignInRequest,
): Step {
  if (organization?.passkeyRequired) return { at: 'authenticate', forOrganization: organization.name }
  if (organization?.loginUrl !== undefined) return { ...personOf(step), at: 'sign in there', read, organization }
  if (connector && !read.connector) return { at: 'withdrawn', why: 'invalid_target' }
  return { ...personOf(step), at: 'consent', grant: { ...read, ...(organization && { organization }) } }
}

/** The chosen identity, and all that the user could choose. */
type Person = { identities: Identity[]; identity: Identity }

const personOf = ({ identities, identity }: Person): Person => ({ identities, identity })

/** Returns to the choice of the identity. If the app requested an organization, it is chosen again too. */
function chooseAgain(step: Extract<Step, { identities: Identity[] }>, { organization }: SignInRequest): Step {
  const { identities } = step
  const from = isChosen(step) ? { from: step } : {}
  if (organization !== undefined && identities.length === 1 && canApprove(step)) {
    const read = withoutOrganization(step.grant)
    return { ...personOf(step), at: 'choose organization', read, mismatch: false, ...from }
  }
  const again = organization !== undefined && { again: true as const }
  return { at: 'choose identity', identities, mismatch: false, ...again, ...from }
}

function isChosen(step: Step): step is Chosen {
  return canApprove(step) || step.at === 'sign in there'
}

const withoutOrganization = ({ organization: _chosen, ...read }: Grant): Grant => read

function hasLeft({ at }: Step): boolean {
  return at === 'leave' || at === 'leave silently' || at === 'ask to leave' || at === 'stopped'
}

/**
 * Returns whether the app requires a newer authentication than the one of the session (OpenID Connect Core §3.1.2.1).
 */
function mustReauthenticate(ageSeconds: number, { prompts, maxAgeSeconds }: SignInRequest): boolean {
  return prompts.includes('login') || (maxAgeSeconds !== undefined && ageSeconds > maxAgeSeconds)
}

/**
 * Returns the error for an app with `prompt=none` if a step would prompt the user. Returns undefined for other steps.
 * An app that is not connected does not learn what a user who has consented would be asked.
 */
function endAt(step: Step, { prompts: _none, ...request }: SignInRequest): SilentRedirect | undefined {
  switch (step.at) {
    case 'authenticate':
      return 'login_required'
    case 'choose identity':
      if (step.mismatch) return 'login_required'
      return step.identities.length > 0 ? 'account_selection_required' : 'consent_required'
    case 'consent':
      if (step.grant.exists && step.grant.lacking?.length) return 'interaction_required'
      if (!isSettled(step.grant, { ...request, prompts: [] })) return 'consent_required'
      // The app key needs an assertion to be unlocked.
      return request.key ? 'interaction_required' : undefined
    case 'choose organization':
      return step.read.exists ? 'account_selection_required' : 'consent_required'
    case 'sign in there':
      return step.read.exists ? 'login_required' : 'consent_required'
    case 'no access':
      return 'access_denied'
    case 'unlock':
    case 'enter code':
    case 'confirm place':
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

/** Reads the grant of the changed identity again, if it still exists. */
function readGrantAgain({ identityId }: Identity, identities: Identity[]): Step {
  const identity = identities.find((each) => each.identityId === identityId)
  return identity ? { at: 'read grant', identities, identity } : { at: 'choose identity', identities, mismatch: false }
}

/**
 * Continues with the identity that the app requested, or with the only one. Of several, it is the one that the user
 * chose before they signed in. Otherwise the user chooses.
 */
function chooseFor(identities: Identity[], request: SignInRequest, chosenId?: string): Step {
  const candidates = candidatesOf(identities, request)
  const mismatch = candidates.length === 0 && identities.length > 0
  const chosen = candidates.find(({ identityId }) => identityId === chosenId)
  const only = candidates.length === 1 ? candidates[0] : chosen
  const identity = request.prompts.includes('select_account') ? undefined : only
  return identity ? { at: 'read grant', identities, identity } : { at: 'choose identity', identities, mismatch }
}

/** Returns the identities that the request names, or all. */
export function candidatesOf(identities: Identity[], request: SignInRequest): Identity[] {
  const isNamed = request.identityId !== undefined || request.loginHint !== undefined
  return isNamed ? identities.filter((identity) => isRequested(identity, request)) : identities
}

/** The hint is a username or a verified e-mail address, of any case. Several identities can have the same address. */
function isRequested({ identityId, handle, email, emailVerified }: Identity, request: SignInRequest): boolean {
  if (request.identityId !== undefined) return identityId === request.identityId
  if (request.loginHint === undefined) return false
  const hint = normalizeHandle(request.loginHint)
  return normalizeHandle(handle) === hint || (emailVerified && email?.toLowerCase() === hint)
}
