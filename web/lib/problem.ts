import { Refused, Unreachable } from './call.ts'
import { CeremonyFailed } from './passkey.ts'
import type { Words } from '../locales/words.ts'

/** What went wrong and what to do about it, in a sentence or two. */
export function describeProblem(error: unknown, { problem }: Pick<Words, 'problem'>): string {
  if (error instanceof Unreachable) return problem.unreachable
  if (error instanceof CeremonyFailed) return problem.ceremony[error.end]
  if (error instanceof Refused) return sentenceFor(error, problem.refused)
  return problem.unexpected
}

function sentenceFor({ code, message }: Refused, sentences: Record<string, string>): string {
  return Object.hasOwn(sentences, code) ? (sentences[code] ?? message) : message
}

/** Whether an error is neither the person's, the server's nor the network's, but a bug of the page. */
export function isOurFault(error: unknown): boolean {
  return !(error instanceof Unreachable || error instanceof CeremonyFailed || error instanceof Refused)
}
