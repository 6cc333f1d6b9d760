import type { ResponseOf } from '@countersign/protocol/api'
import type { SigningKey } from '@countersign/protocol/signing/keys'

/** The identity whose signing key is created or replaced, and its current key. */
export type SigningKeyOwner = { identityId: string; handle: string; key: SigningKey | undefined }
type KeyWraps = ResponseOf<'GET /api/account/key-wraps'>['keyWraps']

/** The steps of replacing a signing key. */
export type Step =
  | { at: 'rest'; done?: SigningKeyOwner }
  | { at: 'confirm'; subject: SigningKeyOwner }
  | { at: 'enter code'; subject: SigningKeyOwner; keyWraps: KeyWraps }

export type Event =
  | { type: 'asked'; subject: SigningKeyOwner }
  | { type: 'passkey opens nothing'; subject: SigningKeyOwner; keyWraps: KeyWraps }
  | { type: 'in force'; subject: SigningKeyOwner }
  | { type: 'cancelled' }

const accepted: Record<Step['at'], Event['type'][]> = {
  rest: ['asked'],
  confirm: ['passkey opens nothing', 'in force', 'cancelled'],
  'enter code': ['in force', 'cancelled'],
}

/** Returns the step after an event. An event that does not belong to the step changes nothing. */
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
