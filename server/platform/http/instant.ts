import { defineErrors } from '#platform/api-error.ts'

const errors = defineErrors({
  invalid_request: [400, 'An instant must be an ISO 8601 timestamp, such as 2026-11-21T09:30:00Z.'],
})

/**
 * Parses an instant that a schema has found to be a `date-time` (RFC 3339). The format also permits leap seconds and
 * offsets that no `Date` can hold. Throws `invalid_request`.
 */
export function readInstant(text: string): Date {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) throw errors.invalid_request()
  return at
}
