import type { RegistrationFinish, RegistrationStarted } from '@countersign/protocol/accounts/passkeys'
import { ApiError } from '../../lib/api/call.ts'
import type { NewRecoveryCode } from '../../lib/keys/new-recovery-code.ts'
import type { NewPasskey } from '../../lib/keys/passkey.ts'
import type { Session } from '../../lib/session/session.ts'

/** A passkey that was created for an account which the server does not know yet. */
export type Made = { started: RegistrationStarted; passkey: NewPasskey }

/** The last request, and the recovery code, which takes effect only after the user has saved it. */
export type Prepared = { finish: RegistrationFinish; code: NewRecoveryCode; opensKeys: boolean }

/** The result of a failed last request: either no account was created, or the result is unknown. */
export type Outcome = 'refused' | 'unknown'

/** A code that was mailed to an address. */
export type SentCode = { verificationId: string; email: string }

/** The user whose recovery code is to be saved. */
export type Owner = Pick<Session, 'user' | 'identities'>

/**
 * The steps of registration. A created passkey and prepared keys are stored, so that closing a dialog by mistake or
 * losing the connection costs one click, and never a second passkey.
 * Where only addresses of certain domains can register, the user proves one first.
 * A user who is signed in decides whether they want another account, or saves their recovery code if they have not.
 */
export type Step =
  | { at: 'address'; email?: string }
  | { at: 'code'; sent: SentCode }
  | { at: 'describe' }
  | { at: 'signed in'; session: Session }
  | { at: 'touch again'; made: Made }
  | { at: 'finish'; made: Made; prepared: Prepared; outcome: Outcome }
  | { at: 'save code'; owner: Owner; code?: { code: NewRecoveryCode; opensKeys: boolean } }
  | { at: 'leave' }

export type Event =
  | { type: 'code sent'; sent: SentCode }
  | { type: 'address changed' }
  | { type: 'address settled' }
  | { type: 'proof refused' }
  | { type: 'session found'; session: Session; isInvited?: boolean }
  | { type: 'identity added' }
  | ({ type: 'signed out' } & Beginning)
  | { type: 'second touch due'; made: Made }
  | { type: 'finish failed'; made: Made; prepared: Prepared; outcome: Outcome }
  | { type: 'account made'; owner: Owner; prepared: Prepared }
  | ({ type: 'started over' } & Beginning)
  | { type: 'code saved' }

/** Whether the user proves an address first. */
type Beginning = { needsEmail?: boolean }

const accepted: Record<Step['at'], Event['type'][]> = {
  address: ['session found', 'code sent', 'address settled'],
  code: ['code sent', 'address changed', 'address settled'],
  describe: ['proof refused', 'session found', 'second touch due', 'finish failed', 'account made'],
  'signed in': ['signed out', 'identity added'],
  'touch again': ['finish failed', 'account made', 'started over'],
  finish: ['finish failed', 'account made', 'started over'],
  'save code': ['code saved'],
  leave: [],
}

/**
 * Returns the step after an event. An event that does not belong to the step, such as a late response, changes nothing.
 */
export function nextStep(step: Step, event: Event): Step {
  return accepted[step.at].includes(event.type) ? stepAfter(step, event) : step
}

function stepAfter(step: Step, event: Event): Step {
  switch (event.type) {
    case 'code sent':
      return { at: 'code', sent: event.sent }
    case 'address changed':
      return { at: 'address', ...(step.at === 'code' && { email: step.sent.email }) }
    case 'proof refused':
      return { at: 'address' }
    case 'address settled':
      return { at: 'describe' }
    case 'second touch due':
      return { at: 'touch again', made: event.made }
    case 'finish failed':
      return { at: 'finish', made: event.made, prepared: event.prepared, outcome: event.outcome }
    case 'session found': {
      const { session } = event
      // An invited user accepts first. Their account asks for the recovery code afterwards.
      const lacksCode = !event.isInvited && session.recoveryCode?.confirmedAt === null
      return lacksCode ? { at: 'save code', owner: session } : { at: 'signed in', session }
    }
    case 'account made': {
      const { code, opensKeys } = event.prepared
      return { at: 'save code', owner: event.owner, code: { code, opensKeys } }
    }
    case 'signed out':
    case 'started over':
      return { at: event.needsEmail ? 'address' : 'describe' }
    case 'code saved':
    case 'identity added':
      return { at: 'leave' }
  }
}

/** An error response means that there is no account. After no response, or a server error, the account may exist. */
export function passkeyFailureOf(error: unknown): Outcome {
  return error instanceof ApiError && error.status < 500 && error.status !== 429 ? 'refused' : 'unknown'
}
