import type { ResponseOf } from '@countersign/protocol/api'
import type { PasskeyWrap } from '@countersign/protocol/accounts/keys'
import type { NewPasskey } from '../../../lib/keys/passkey.ts'

type KeyWraps = ResponseOf<'GET /api/account/key-wraps'>['keyWraps']

/** A passkey that was created, but that the server does not know yet. */
export type CreatedPasskey = { started: ResponseOf<'POST /api/auth/passkeys/start'>; passkey: NewPasskey }

/**
 * The steps of adding a passkey. The page says what the passkey cannot do before it is added. Canceling loses nothing.
 */
export type Step =
  | { at: 'rest'; added?: string }
  | { at: 'enter code'; keyWraps: KeyWraps }
  | { at: 'make' }
  | { at: 'touch again'; made: CreatedPasskey }
  | { at: 'signs in only'; made: CreatedPasskey }
  | { at: 'finish'; made: CreatedPasskey; keyWrap: PasskeyWrap | undefined }

export type Event =
  | { type: 'keys are shut'; keyWraps: KeyWraps }
  | { type: 'ready to make' }
  | { type: 'second touch due'; made: CreatedPasskey }
  | { type: 'opens nothing'; made: CreatedPasskey }
  | { type: 'finish failed'; made: CreatedPasskey; keyWrap: PasskeyWrap | undefined }
  | { type: 'added'; name: string }
  | { type: 'turned back' }

const accepted: Record<Step['at'], Event['type'][]> = {
  rest: ['keys are shut', 'ready to make'],
  'enter code': ['ready to make', 'turned back'],
  make: ['second touch due', 'opens nothing', 'finish failed', 'added', 'turned back'],
  'touch again': ['opens nothing', 'finish failed', 'added', 'turned back'],
  'signs in only': ['finish failed', 'added', 'turned back'],
  finish: ['finish failed', 'added', 'turned back'],
}

/** Returns the step after an event. An event that does not belong to the step changes nothing. */
export function nextStep(step: Step, event: Event): Step {
  return accepted[step.at].includes(event.type) ? stepAfter(event) : step
}

function stepAfter(event: Event): Step {
  switch (event.type) {
    case 'keys are shut':
      return { at: 'enter code', keyWraps: event.keyWraps }
    case 'ready to make':
      return { at: 'make' }
    case 'second touch due':
      return { at: 'touch again', made: event.made }
    case 'opens nothing':
      return { at: 'signs in only', made: event.made }
    case 'finish failed':
      return { at: 'finish', made: event.made, keyWrap: event.keyWrap }
    case 'added':
      return { at: 'rest', added: event.name }
    case 'turned back':
      return { at: 'rest' }
  }
}
