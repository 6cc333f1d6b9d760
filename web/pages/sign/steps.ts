import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { answerOf, type Answer } from './answer.ts'

/** How a request can end; each is for good. */
export type End = 'signed' | 'denied' | 'expired'

type Asked = NonNullable<SigningRequest['organization']>

/** Where an organization has its members sign in, before they see what it is asked. */
export type OwnSignIn = { organizationName: string; loginUrl: string }

/** Where a person is who was asked to sign. */
export type Step =
  | { at: 'look' }
  | { at: 'authenticate' }
  | { at: 'open window'; toProve?: true }
  | { at: 'unknown' }
  | { at: 'sign in there'; place: OwnSignIn }
  | { at: 'decide'; request: SigningRequest; insisted: boolean }
  | { at: 'enter code'; request: SigningRequest; keyWraps: KeyWrap[] }
  | { at: 'wait'; request: SigningRequest; organization: Asked }
  | { at: 'end'; end: End; answer?: Answer; origins: string[] }

export type Event =
  | { type: 'nobody signed in' }
  | { type: 'request read'; request: SigningRequest }
  | { type: 'no such request' }
  | { type: 'own sign-in asked'; place: OwnSignIn }
  | { type: 'insisted' }
  | { type: 'proof needed' }
  | { type: 'keys are shut'; keyWraps: KeyWrap[] }
  | { type: 'turned back' }
  | { type: 'time is up' }
  | { type: 'answered in a window'; answer: Answer; origins: string[] }

/**
 * The step after an event; one that does not belong to the step changes nothing, and nothing changes an end. In a frame
 * nobody signs in: the session cookie does not travel there from another site, and a passkey is not taken from there.
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
    case 'proof needed':
      return framed ? { at: 'open window', toProve: true } : step
    case 'insisted':
      return step.at === 'decide' ? { ...step, insisted: true } : step
    case 'keys are shut':
      return step.at === 'decide' ? { at: 'enter code', request: step.request, keyWraps: event.keyWraps } : step
    case 'turned back':
      return step.at === 'enter code' ? { at: 'decide', request: step.request, insisted: true } : step
    case 'time is up':
      return 'request' in step ? { at: 'end', end: 'expired', origins: [] } : step
    case 'answered in a window':
      return { at: 'end', end: endOf(event.answer), answer: event.answer, origins: event.origins }
  }
}

/** One that still waits leaves the person where they are. */
function stepFor(request: SigningRequest, step: Step): Step {
  if (request.status !== 'pending')
    return { at: 'end', end: request.status, ...answerOf(request), origins: request.app.origins }
  if (step.at === 'open window' && step.toProve) return step
  const { organization } = request
  if (organization && organization.answered !== null) return { at: 'wait', request, organization }
  return 'request' in step && step.at !== 'wait' ? step : { at: 'decide', request, insisted: false }
}

function endOf({ type }: Answer): End {
  return type === 'countersign:signed' ? 'signed' : 'denied'
}
