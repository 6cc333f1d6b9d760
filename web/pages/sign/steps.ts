import type { AuthenticationResponse } from '@countersign/protocol/accounts/passkeys'
import type { PresenceEvidence } from '@countersign/protocol/formats/signing/approval'
import type { ApprovalStatement } from '@countersign/protocol/signing/approvals'
import type { ChainedSigningKey } from '@countersign/protocol/signing/keys'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { type Answer, parseResponse } from './answer.ts'

type RequestedOrganization = NonNullable<SigningRequest['organization']>

/** The action of a user on a request: sign it, or approve the signature of an organization. */
export type Role = 'sign' | 'approve'

/** Returns the next action of a member: sign if no other member has signed and they may, otherwise approve. */
export function roleOf({ organization }: Pick<SigningRequest, 'organization'>): Role {
  if (!organization?.mayApprove || organization.approvalsNeeded === 0) return 'sign'
  return organization.maySign && !isSignedByOthers(organization) ? 'sign' : 'approve'
}

function isSignedByOthers({ isSigned, answered, answers, memberId }: RequestedOrganization): boolean {
  if (answered !== 'sign') return isSigned
  return answers.some((answer) => answer.role === 'sign' && answer.memberId !== memberId)
}

/**
 * Returns whether a member who has signed may replace that by an approval. Members who read a request at the same time
 * can all sign it, and then approvals may be missing that only they can give.
 */
export function mayApproveInstead(organization: RequestedOrganization): boolean {
  const { answered, mayApprove, approvals, approvalsNeeded } = organization
  return answered === 'sign' && mayApprove && approvals < approvalsNeeded && isSignedByOthers(organization)
}

/** The final states of a request. */
export type RequestEnd = 'signed' | 'denied' | 'expired'

/** The SSO login of an organization, which members must do before they see its requests. */
export type OwnSignIn = { organizationName: string; loginUrl: string }

/** Statement of what the page shows. The page does not know apps by branded IDs. */
export type DisplayedStatement = Omit<ApprovalStatement, 'app'> & {
  app: { clientId: string; name: string; origins: string[] }
}

/** A statement that the user has confirmed with a passkey, before the key signs it. */
export type Confirmed = {
  flowId: string
  statement: DisplayedStatement
  key: ChainedSigningKey
  credential: AuthenticationResponse
  evidence: PresenceEvidence
}

/** Why nothing is signed: the service states something else than is shown, something changed, or the clocks differ. */
export type StopReason = 'statement' | 'changed' | 'clock'

/** What has changed about a request since it was shown: who has signed for the organization, or the user's own key. */
export type News = 'signatures' | 'key'

/** What a user decides on. `isAnswered` is set after the service has accepted the answer, until the next read. */
type Decision = { request: SigningRequest; isAnswered?: true }

/** The steps of a signing request. */
export type Step =
  | { at: 'look' }
  | { at: 'authenticate' }
  | { at: 'open window' }
  | { at: 'unknown' }
  | { at: 'sign in there'; place: OwnSignIn }
  | ({ at: 'decide'; insisted: boolean; news?: News } & Decision)
  | ({ at: 'enter code'; keyWraps: KeyWrap[]; confirmed: Confirmed } & Decision)
  | { at: 'stopped'; why: StopReason }
  | { at: 'wait'; request: SigningRequest; organization: RequestedOrganization }
  | { at: 'end'; end: RequestEnd; answer?: Answer; origins: string[]; request?: SigningRequest; isNow?: boolean }

type Deciding = Extract<Step, { at: 'decide' | 'enter code' }>

export type Event =
  | { type: 'nobody signed in' }
  | { type: 'request read'; request: SigningRequest }
  | { type: 'no such request' }
  | { type: 'own sign-in asked'; place: OwnSignIn }
  | { type: 'insisted' }
  | { type: 'approves instead' }
  | { type: 'stopped'; why: StopReason }
  | { type: 'keys are shut'; request: SigningRequest; keyWraps: KeyWrap[]; confirmed: Confirmed }
  | { type: 'answer accepted' }
  | { type: 'turned back' }
  | { type: 'time is up' }
  | { type: 'answered in a window'; answer: Answer; origins: string[] }

/**
 * Returns the step after an event. An event that does not belong to the step changes nothing, and final steps never
 * change. In a frame, users neither sign in nor sign: the session cookie is not sent there across sites, and the server
 * rejects assertions from there.
 */
export function nextStep(step: Step, event: Event, { framed }: { framed: boolean }): Step {
  if (step.at === 'end') return step
  switch (event.type) {
    case 'nobody signed in':
      return { at: framed ? 'open window' : 'authenticate' }
    case 'no such request':
      return { at: framed ? 'open window' : 'unknown' }
    case 'own sign-in asked':
      return framed ? { at: 'open window' } : { at: 'sign in there', place: event.place }
    case 'request read':
      return stepFor(event.request, step)
    case 'stopped':
      return { at: 'stopped', why: event.why }
    case 'insisted':
      return step.at === 'decide' ? { ...step, insisted: true } : step
    case 'approves instead':
      return step.at === 'wait' && mayApproveInstead(step.organization) ? decide(step.request) : step
    case 'keys are shut':
      return step.at === 'decide' ? enterCode(step, event) : step
    case 'answer accepted':
      return isDeciding(step) ? { ...step, isAnswered: true } : step
    case 'turned back':
      return step.at === 'enter code' ? { at: 'decide', request: step.request, insisted: true } : step
    case 'time is up':
      return 'request' in step ? { at: 'end', end: 'expired', origins: [] } : step
    case 'answered in a window':
      return { at: 'end', end: endOf(event.answer), answer: event.answer, origins: event.origins }
  }
}

/** Asks for the code, unless the passkey has confirmed something else than the page shows now. */
function enterCode(step: Deciding, event: Extract<Event, { type: 'keys are shut' }>): Step {
  const { request, keyWraps, confirmed } = event
  if (!isSameRequest(step.request, request)) return step
  return { at: 'enter code', request: step.request, keyWraps, confirmed }
}

function isDeciding(step: Step): step is Deciding {
  return step.at === 'decide' || step.at === 'enter code'
}

/** Returns whether two successive steps show the same to decide on, so that a confirmation stays valid. */
export function isSameShown(before: Step, next: Step): boolean {
  return isDeciding(before) && isDeciding(next) && isSameRequest(before.request, next.request)
}

function isSameRequest(shown: SigningRequest, request: SigningRequest): boolean {
  return contentOf(shown) === contentOf(request) && !findNews(shown, request)
}

function decide(request: SigningRequest): Step {
  return { at: 'decide', request, insisted: false }
}

function stepFor(request: SigningRequest, step: Step): Step {
  if (request.status !== 'pending')
    return {
      ...{ at: 'end', end: request.status, ...parseResponse(request), origins: request.app.origins, request },
      // The signature is drawn when it was given here.
      isNow: 'request' in step,
    }
  if (step.at === 'stopped') return step
  const deciding = isDeciding(step) ? step : undefined
  const { organization } = request
  if (organization && organization.answered !== null) {
    const isApproving = deciding?.request.organization?.answered === 'sign' && mayApproveInstead(organization)
    if (!isApproving) return { at: 'wait', request, organization }
  }
  return deciding ? takeOver(deciding, request) : decide(request)
}

/**
 * Takes over what others have done since the request was shown. The page stops if the service now describes anything
 * else differently: nothing that users sign changes after they have read it.
 */
function takeOver(step: Deciding, request: SigningRequest): Step {
  const { isAnswered = false } = step
  if (contentOf(step.request) !== contentOf(request))
    return (isAnswered && waitAfter(step.request)) || { at: 'stopped', why: 'changed' }
  const found = findNews(step.request, request)
  // The passkey has confirmed another role or key, or its confirmation is used.
  if (step.at === 'enter code' && !found && !isAnswered) return step
  const { insisted, news: earlier } = step.at === 'decide' ? step : { insisted: true, news: undefined }
  const news = found ?? earlier
  return { at: 'decide', request, insisted, ...(news && { news }) }
}

/** Describes that the member has answered what was shown, whatever the service describes now. */
function waitAfter(request: SigningRequest): Step | undefined {
  const { organization } = request
  return organization && { at: 'wait', request, organization: { ...organization, answered: roleOf(request) } }
}

/** Returns what a user must see before they sign, because others or another tab have changed it. */
function findNews(shown: SigningRequest, request: SigningRequest): News | undefined {
  if (roleOf(shown) !== roleOf(request)) return 'signatures'
  return shown.publicKey === request.publicKey ? undefined : 'key'
}

/** Everything that users sign, except their key. */
function contentOf({ app, payload, identityId, handle, organization, createdAt, expiresAt }: SigningRequest): string {
  const { id, name, memberId, approvalsNeeded } = organization ?? {}
  return JSON.stringify([
    ...[app.clientId, app.name, app.origins.toSorted(), payload, identityId, handle],
    ...[id, name, memberId, approvalsNeeded, createdAt, expiresAt],
  ])
}

function endOf({ type }: Answer): RequestEnd {
  return type === 'countersign:signed' ? 'signed' : 'denied'
}
