const calendars = new Map() // an identity → what is on

/** What is on today for an identity. Everybody has the same, to begin with. */
export function eventsOf(identityId) {
  const events = calendars.get(identityId) ?? [
    { at: '09:30', what: 'Stand-up' },
    { at: '12:00', what: 'Lunch with Bob' },
    { at: '16:15', what: 'Dentist' },
  ]
  calendars.set(identityId, events)
  return events
}
