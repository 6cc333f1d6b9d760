import { ApiError } from '../../../lib/api/call.ts'

/** The reason why a domain is not verified. Each has its own text. */
export type VerificationOutcome =
  | 'invalid'
  | 'public'
  | 'claimed'
  | 'too many'
  | 'taken'
  | 'unanswered'
  | 'nothing'
  | 'other text'
  | 'alias'

const byCode: Record<string, VerificationOutcome> = {
  invalid_domain: 'invalid',
  public_domain: 'public',
  domain_already_claimed: 'claimed',
  too_many_domains: 'too many',
  domain_taken: 'taken',
  temporarily_unavailable: 'unanswered',
}

const byFinding: Record<string, VerificationOutcome> = { nothing: 'nothing', other_text: 'other text', alias: 'alias' }

/** Returns the outcome of a verification. Throws errors that are not about the domain. */
export function verificationMessage(error: unknown): VerificationOutcome {
  const verdict =
    error instanceof ApiError ? (byCode[error.code] ?? byFinding[String(error.fields['found'])]) : undefined
  if (verdict === undefined) throw error
  return verdict
}
