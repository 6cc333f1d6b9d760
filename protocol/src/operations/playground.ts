import { Type } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { Timestamp } from '../values.ts'

/** The calendar that the playground acts at for a user. */
export const getDemoCalendar = endpoint(
  'GET /api/playground/calendar',
  {
    security: 'access token',
    cors: 'any origin',
    summary: 'Get the events of the demonstration calendar, with a delegated token; only if DEMO is on',
  },
  {},
  {
    200: Type.Object({
      events: Type.Array(Type.Object({ title: Type.String(), startsAt: Timestamp })),
      verified: Type.Object(
        { audience: Type.String(), scope: Type.String(), expiresAt: Timestamp },
        { description: 'What the calendar has verified of the token' },
      ),
    }),
  },
)
