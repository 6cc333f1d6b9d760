import { ApiError, NetworkError } from './call.ts'
import { CeremonyError } from '../keys/passkey.ts'
import { isolate } from '../text/isolate.ts'
import type { Messages } from '../../locales/messages.ts'

/** Returns a sentence or two: what went wrong, and what the user can do about it. */
export function errorMessage(error: unknown, { problem }: Pick<Messages, 'problem'>): string {
  if (error instanceof NetworkError) return problem.unreachable
  if (error instanceof CeremonyError) return problem.ceremony[error.end]
  if (error instanceof ApiError) {
    const { reason, retryAfterSeconds } = error.fields
    if (error.code === 'rate_limited') return problem.rateLimited(Number(retryAfterSeconds) || 60)
    if (error.code === 'account_suspended' && typeof reason === 'string') return problem.suspended(isolate(reason))
    return sentenceFor(error, problem.refused)
  }
  return problem.unexpected
}

function sentenceFor({ code, message }: ApiError, sentences: Record<string, string>): string {
  return Object.hasOwn(sentences, code) ? (sentences[code] ?? message) : message
}

/**
 * Reports an error of work that the user has not asked for, if it is a bug of the page. Requests also fail because the
 * user leaves the page.
 */
export function reportUnexpected(error: unknown): void {
  if (isUnexpectedError(error)) reportError(error)
}

/** Returns whether an error is a bug of the page, and not caused by the user, the server or the network. */
export function isUnexpectedError(error: unknown): boolean {
  return !(error instanceof NetworkError || error instanceof CeremonyError || error instanceof ApiError)
}
