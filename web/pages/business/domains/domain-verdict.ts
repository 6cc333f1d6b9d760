import { Refused } from '../../../lib/call.ts'

/** Why a domain is not an organization's, or not yet; each has its words. */
export type Verdict =
  | 'invalid'
  | 'public'
  | 'claimed'
  | 'too many'
  | 'taken'
  | 'unanswered'
  | 'nothing'
  | 'other text'
  | 'alias'

const byCode: Record<string, Verdict> = {
  invalid_domain: 'invalid',
  public_domain: 'public',
  domain_already_claimed: 'claimed',
  too_many_domains: 'too many',
  domain_taken: 'taken',
  temporarily_unavailable: 'unanswered',
}

const byFinding: Record<string, Verdict> = { nothing: 'nothing', other_text: 'other text', alias: 'alias' }

/** What the server found of a domain. Throws on whatever says nothing of it. */
export function verdictOf(error: unknown): Verdict {
  const verdict =
    error instanceof Refused ? (byCode[error.code] ?? byFinding[String(error.fields['found'])]) : undefined
  if (verdict === undefined) throw error
  return verdict
}
