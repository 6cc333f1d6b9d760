import { ApiError } from '../../lib/api/call.ts'

/** What is wrong with a link, so that no other attempt helps. */
type Problem = 'used' | 'locked' | 'ended'

const problems: Record<string, Problem> = {
  recovery_link_used: 'used',
  recovery_locked: 'locked',
  recovery_link_not_found: 'ended',
}

export function problemOf(error: unknown): Problem | undefined {
  return error instanceof ApiError ? problems[error.code] : undefined
}
