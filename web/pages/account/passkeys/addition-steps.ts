import type { Answer } from '@countersign/protocol/api'
import type { PasskeyWrap } from '@countersign/protocol/accounts/keys'
import type { NewPasskey } from '../../../lib/passkey.ts'

type KeyWraps = Answer<'GET /api/account/key-wraps'>['keyWraps']

/** A passkey that was made, but that the server does not know yet. */
export type Made = { started: Answer<'POST /api/auth/passkeys/start'>; passkey: NewPasskey }

/** The way to a further passkey. What it cannot do is said before it is added, and nothing is lost by turning back. */
export type Step =
  | { at: 'rest'; added?: string }
  | { at: 'enter code'; keyWraps: KeyWraps }
  | { at: 'make' }
  | { at: 'touch again'; made: Made }
  | { at: 'signs in only'; made: Made }
  | { at: 'finish'; made: Made; keyWrap: PasskeyWrap | undefined }

export type Event =
  | { type: 'keys are shut'; keyWraps: KeyWraps }
  | { type: 'ready to make' }
  | { type: 'second touch due'; made: Made }
  | { type: 'opens nothing'; made: Made }
  | { type: 'finish failed'; made: Made; keyWrap: PasskeyWrap | undefined }
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

/** The step after an event; one that does not belong to the step changes nothing. */
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
