import type { RegistrationFinish, RegistrationStarted } from '@countersign/protocol/accounts/passkeys'
import { Refused } from '../../lib/call.ts'
import type { NewPasskey } from '../../lib/passkey.ts'

/** A passkey that was made for an account which the server does not know yet. */
export type Made = { started: RegistrationStarted; passkey: NewPasskey }

/** All that the server is told at the end, and the code that it is never told. */
export type Prepared = { finish: RegistrationFinish; recoveryCode: string; opensKeys: boolean }

/** What became of a last request that failed: no account, or nobody here knows. */
export type Outcome = 'refused' | 'unknown'

/**
 * Where a person is on the way to an account. A passkey once made and keys once prepared are kept, so that a dialog
 * closed by mistake or a lost connection costs one click and never a second passkey.
 */
export type Step =
  | { at: 'describe' }
  | { at: 'touch again'; made: Made }
  | { at: 'finish'; made: Made; prepared: Prepared; outcome: Outcome }
  | { at: 'save code'; recoveryCode: string; opensKeys: boolean }
  | { at: 'leave' }

export type Event =
  | { type: 'second touch due'; made: Made }
  | { type: 'finish failed'; made: Made; prepared: Prepared; outcome: Outcome }
  | { type: 'account made'; prepared: Prepared }
  | { type: 'started over' }
  | { type: 'code saved' }

const accepted: Record<Step['at'], Event['type'][]> = {
  describe: ['second touch due', 'finish failed', 'account made'],
  'touch again': ['finish failed', 'account made', 'started over'],
  finish: ['finish failed', 'account made', 'started over'],
  'save code': ['code saved'],
  leave: [],
}

/** The step after an event. One that does not belong to the step, such as a late answer, changes nothing. */
export function nextStep(step: Step, event: Event): Step {
  return accepted[step.at].includes(event.type) ? stepAfter(event) : step
}

function stepAfter(event: Event): Step {
  switch (event.type) {
    case 'second touch due':
      return { at: 'touch again', made: event.made }
    case 'finish failed':
      return { at: 'finish', made: event.made, prepared: event.prepared, outcome: event.outcome }
    case 'account made':
      return { at: 'save code', recoveryCode: event.prepared.recoveryCode, opensKeys: event.prepared.opensKeys }
    case 'started over':
      return { at: 'describe' }
    case 'code saved':
      return { at: 'leave' }
  }
}

/** A refusal settles that there is no account. Silence, or a fault of the server, may have come after it was made. */
export function outcomeOf(error: unknown): Outcome {
  return error instanceof Refused && error.status < 500 && error.status !== 429 ? 'refused' : 'unknown'
}
