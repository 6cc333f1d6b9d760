import type { Answer } from '@countersign/protocol/api'
import type { SigningKey } from '@countersign/protocol/signing/signing'

/** The identity whose key is made or replaced, and the key that it has. */
export type Subject = { identityId: string; handle: string; key: SigningKey | undefined }
type KeyWraps = Answer<'GET /api/account/key-wraps'>['keyWraps']

/** The way to a new signing key. */
export type Step =
  | { at: 'rest'; done?: Subject }
  | { at: 'confirm'; subject: Subject }
  | { at: 'enter code'; subject: Subject; keyWraps: KeyWraps }

export type Event =
  | { type: 'asked'; subject: Subject }
  | { type: 'passkey opens nothing'; subject: Subject; keyWraps: KeyWraps }
  | { type: 'in force'; subject: Subject }
  | { type: 'cancelled' }

const accepted: Record<Step['at'], Event['type'][]> = {
  rest: ['asked'],
  confirm: ['passkey opens nothing', 'in force', 'cancelled'],
  'enter code': ['in force', 'cancelled'],
}

/** The step after an event; one that does not belong to the step changes nothing. */
export function nextStep(step: Step, event: Event): Step {
  return accepted[step.at].includes(event.type) ? stepAfter(event) : step
}

function stepAfter(event: Event): Step {
  switch (event.type) {
    case 'asked':
      return { at: 'confirm', subject: event.subject }
    case 'passkey opens nothing':
      return { at: 'enter code', subject: event.subject, keyWraps: event.keyWraps }
    case 'in force':
      return { at: 'rest', done: event.subject }
    case 'cancelled':
      return { at: 'rest' }
  }
}
