/** What a person has to do first, by the reason for which there is no token. */
const remedies = { access_denied: 'connect', invalid_grant: 'sign-in', invalid_request: 'sign-in' }

/** Reads the calendars of users who have delegated this to the assistant. */
export function createDiary(countersign, calendarUrl) {
  const regulars = new Map() // an identity → the person, where it may act while they are away
  const prepared = new Set() // the identities whose day it has prepared

  /** What is on today, or what the person has to do first. */
  async function readToday(person) {
    try {
      return { events: await readEvents(person), isPrepared: prepared.has(person.identityId) }
    } catch (error) {
      // Of the exchange, or of the refresh of the token that is exchanged.
      const remedy = remedies[error.error ?? error.code]
      if (!remedy) throw error
      regulars.delete(person.identityId)
      return { remedy }
    }
  }

  async function readEvents(person) {
    const token = await exchange(person)
    const response = await ask(token)
    if (response.status !== 401) return eventsIn(response)
    // The consent behind a token that was kept has ended. There may be another.
    countersign.forgetToken(token)
    return eventsIn(await ask(await exchange(person)))
  }

  async function exchange(person) {
    const subjectToken = await person.readSubjectToken()
    const token = await countersign.exchangeForResource({ subjectToken, resource: 'calendar' })
    if (token.mode === 'background') regulars.set(person.identityId, person)
    else regulars.delete(person.identityId)
    return token
  }

  function ask({ accessToken }) {
    return fetch(new URL('/api/events', calendarUrl), { headers: { authorization: `Bearer ${accessToken}` } })
  }

  async function prepare(person) {
    const { events } = await readToday(person)
    if (events) prepared.add(person.identityId)
    return events !== undefined
  }

  return {
    readToday,
    /** Prepares the day of all users with a background delegation. Returns the number of days, and of revoked delegations. */
    async prepareAll() {
      const days = await Promise.all([...regulars.values()].map(prepare))
      const count = days.filter(Boolean).length
      return { prepared: count, refused: days.length - count }
    },
  }
}

async function eventsIn(response) {
  if (!response.ok) throw new Error(`the calendar answered ${response.status}`)
  const { events } = await response.json()
  return events
}
