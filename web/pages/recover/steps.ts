import type { Answer, Given } from '@countersign/protocol/api'
import type { NewPasskey, PrfOutput } from '../../lib/passkey.ts'

/** A passkey that was made for an account which does not have it yet. */
export type Made = { started: Answer<'POST /api/auth/recover/start'>; passkey: NewPasskey }

/** What puts a new recovery code in force. */
export type Replacement = Given<'PUT /api/account/recovery'>['body']

/**
 * Where a person is on the way back in. The code that they used is spent; the new one is in force only after they have
 * it, and until then the old one still opens their keys.
 */
export type Step =
  | { at: 'identify' }
  | { at: 'touch again'; made: Made }
  | { at: 'finish'; made: Made; prfOutput: PrfOutput | undefined }
  | { at: 'unopened' }
  | { at: 'save code'; recoveryCode: string; replacement: Replacement; opensKeys: boolean }
  | { at: 'leave' }

export type Event =
  | { type: 'second touch due'; made: Made }
  | { type: 'refused' }
  | { type: 'finish failed'; made: Made; prfOutput: PrfOutput | undefined }
  | { type: 'no keys' }
  | { type: 'keys did not open' }
  | { type: 'keys opened'; recoveryCode: string; replacement: Replacement; opensKeys: boolean }
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

/** The step after an event; one that does not belong to the step, such as a late answer, changes nothing. */
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
      const { recoveryCode, replacement, opensKeys } = event
      return { at: 'save code', recoveryCode, replacement, opensKeys }
    }
    case 'code in force':
      return { at: 'leave' }
  }
}
