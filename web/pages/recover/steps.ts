import type { ResponseOf } from '@countersign/protocol/api'
import type { NewRecoveryCode } from '../../lib/keys/new-recovery-code.ts'
import type { NewPasskey, PrfOutput } from '../../lib/keys/passkey.ts'

/** A passkey that was created for an account which does not have it yet. */
export type Made = { started: ResponseOf<'POST /api/auth/recover/start'>; passkey: NewPasskey }

/** The user who is signed in again. */
export type Owner = Pick<ResponseOf<'POST /api/auth/recover/finish'>, 'user' | 'identities'>

/**
 * The steps of account recovery. The code that was used cannot be used again. The new code is activated only after the
 * user has saved it, and until then the old one still unlocks their keys.
 */
export type Step =
  | { at: 'identify' }
  | { at: 'touch again'; made: Made }
  | { at: 'finish'; made: Made; prfOutput: PrfOutput | undefined }
  | { at: 'unopened' }
  | { at: 'save code'; owner: Owner; code: NewRecoveryCode; opensKeys: boolean }
  | { at: 'leave' }

export type Event =
  | { type: 'second touch due'; made: Made }
  | { type: 'refused' }
  | { type: 'finish failed'; made: Made; prfOutput: PrfOutput | undefined }
  | { type: 'no keys' }
  | { type: 'keys did not open' }
  | { type: 'keys opened'; owner: Owner; code: NewRecoveryCode; opensKeys: boolean }
  | { type: 'code in force' }

const ends = ['refused', 'finish failed', 'no keys', 'keys did not open', 'keys opened'] as const
const accepted: Record<Step['at'], readonly Event['type'][]> = {
  identify: ['second touch due', ...ends],
  'touch again': ends,
  finish: ends,
  unopened: [],
  'save code': ['code in force'],
  leave: [],
}

/**
 * Returns the step after an event. An event that does not belong to the step, such as a late response, changes nothing.
 */
export function nextStep(step: Step, event: Event): Step {
  return accepted[step.at].includes(event.type) ? stepAfter(event) : step
}

function stepAfter(event: Event): Step {
  switch (event.type) {
    case 'second touch due':
      return { at: 'touch again', made: event.made }
    case 'refused':
      return { at: 'identify' }
    case 'finish failed':
      return { at: 'finish', made: event.made, prfOutput: event.prfOutput }
    case 'no keys':
      return { at: 'leave' }
    case 'keys did not open':
      return { at: 'unopened' }
    case 'keys opened': {
      const { owner, code, opensKeys } = event
      return { at: 'save code', owner, code, opensKeys }
    }
    case 'code in force':
      return { at: 'leave' }
  }
}
