import { Type, type Static } from 'typebox'
import { nullable, Timestamp } from '../values.ts'

/** Errors of an app's requests that are counted by their code. All others count as `other`. */
export const usageErrors = [
  'invalid_client',
  'invalid_grant',
  'invalid_redirect_uri',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'rate_limited',
  'unauthorized_client',
  'unsupported_response_type',
  'other',
] as const
export type UsageError = (typeof usageErrors)[number]

const Count = Type.Integer({ minimum: 0 })

/** Sign-ins and errors of an app, without any user. Days are in UTC. Counts appear within a few seconds. */
export const AppUsage = Type.Object({
  days: Type.Array(
    Type.Object({ day: Type.String({ description: 'YYYY-MM-DD' }), signInCount: Count, errorCount: Count }),
    { description: 'The last 30 days, oldest first, including those without any request' },
  ),
  errors: Type.Array(
    Type.Object({ error: Type.Enum([...usageErrors], { type: 'string' }), count: Count, lastAt: Timestamp }),
    { description: 'The errors of these days, the latest first' },
  ),
  lastSignInAt: nullable(Timestamp),
})
export type AppUsage = Static<typeof AppUsage>
