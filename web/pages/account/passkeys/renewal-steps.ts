import type { ResponseOf, RequestOf } from '@countersign/protocol/api'
import type { PrfOutput } from '../../../lib/keys/passkey.ts'

/** The request that activates a new recovery code. */
export type NewRecoveryCode = RequestOf<'PUT /api/account/recovery'>['body']
/** The passkey that the user has just used, with its PRF output. */
export type UsedPasskey = { credentialId: string; prfOutput: PrfOutput | undefined }
type KeyWraps = ResponseOf<'GET /api/account/key-wraps'>['keyWraps']

/**
 * The steps of replacing the recovery code. A new code is activated only after the user has saved it. Users who leave
 * earlier keep the old one.
 */
export type Step =
  | { at: 'rest'; renewed: boolean }
  | { at: 'enter code'; keyWraps: KeyWraps; used: UsedPasskey }
  | { at: 'save code'; recoveryCode: string; replacement: NewRecoveryCode }

export type Event =
  | { type: 'passkey opens nothing'; keyWraps: KeyWraps; used: UsedPasskey }
  | { type: 'opened'; recoveryCode: string; replacement: NewRecoveryCode }
  | { type: 'in force' }
  | { type: 'cancelled' }

const accepted: Record<Step['at'], Event['type'][]> = {
  rest: ['passkey opens nothing', 'opened'],
  'enter code': ['opened', 'cancelled'],
  'save code': ['in force', 'cancelled'],
}

/** Returns the step after an event. An event that does not belong to the step changes nothing. */
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
