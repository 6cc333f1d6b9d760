import type { Answer, Given } from '@countersign/protocol/api'
import type { PrfOutput } from '../../../lib/passkey.ts'

/** What puts a new recovery code in force. */
export type Replacement = Given<'PUT /api/account/recovery'>['body']
/** The passkey that a person has just used, and what it could open keys with. */
export type UsedPasskey = { credentialId: string; prfOutput: PrfOutput | undefined }
type KeyWraps = Answer<'GET /api/account/key-wraps'>['keyWraps']

/**
 * The way to a new recovery code. It is put in force only after the person has it: whoever leaves before keeps the old.
 */
export type Step =
  | { at: 'rest'; renewed: boolean }
  | { at: 'enter code'; keyWraps: KeyWraps; used: UsedPasskey }
  | { at: 'save code'; recoveryCode: string; replacement: Replacement }

export type Event =
  | { type: 'passkey opens nothing'; keyWraps: KeyWraps; used: UsedPasskey }
  | { type: 'opened'; recoveryCode: string; replacement: Replacement }
  | { type: 'in force' }
  | { type: 'cancelled' }

const accepted: Record<Step['at'], Event['type'][]> = {
  rest: ['passkey opens nothing', 'opened'],
  'enter code': ['opened', 'cancelled'],
  'save code': ['in force', 'cancelled'],
}

/** The step after an event; one that does not belong to the step changes nothing. */
export function nextStep(step: Step, event: Event): Step {
  return accepted[step.at].includes(event.type) ? stepAfter(event) : step
}

function stepAfter(event: Event): Step {
  switch (event.type) {
    case 'passkey opens nothing':
      return { at: 'enter code', keyWraps: event.keyWraps, used: event.used }
    case 'opened':
      return { at: 'save code', recoveryCode: event.recoveryCode, replacement: event.replacement }
    case 'in force':
      return { at: 'rest', renewed: true }
    case 'cancelled':
      return { at: 'rest', renewed: false }
  }
}
