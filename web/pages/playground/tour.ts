/** The steps of the tour, in their order. */
export const tourSteps = ['sign-in', 'identity', 'signature', 'delegation', 'encryption'] as const
export type TourStep = (typeof tourSteps)[number]

/** An identity that the app has seen. The app has no other data of it between two visits. */
export type SeenIdentity = { sub: string; name: string; handle: string }

/** Where this tab stores the encrypted note, as the server of an app would. Its key is stored nowhere. */
export const noteStorageKey = 'playground-note'

/** What this tab remembers of the tour. It contains no token and no key. */
export type Tour = {
  identities: SeenIdentity[]
  /** The steps that succeeded. */
  done: TourStep[]
}

export const emptyTour: Tour = { identities: [], done: [] }

/** Parses the stored tour. Anything else than a complete one counts as none. */
export function loadTour(stored: string | null): Tour {
  const value: unknown = JSON.parse(stored ?? 'null')
  if (typeof value !== 'object' || value === null) return emptyTour
  const { identities, done } = value as Record<string, unknown>
  if (!Array.isArray(identities) || !Array.isArray(done)) return emptyTour
  return { identities: identities.filter(isSeen), done: tourSteps.filter((step) => done.includes(step)) }
}

function isSeen(value: unknown): value is SeenIdentity {
  if (typeof value !== 'object' || value === null) return false
  return ['sub', 'name', 'handle'].every((key) => typeof Reflect.get(value, key) === 'string')
}

/** Returns the tour after a sign-in with an identity. A second identity completes the second step. */
export function withIdentity(tour: Tour, identity: SeenIdentity): Tour {
  const identities = [...tour.identities.filter(({ sub }) => sub !== identity.sub), identity]
  const steps: TourStep[] = identities.length > 1 ? ['sign-in', 'identity'] : ['sign-in']
  return steps.reduce(withDone, { ...tour, identities })
}

export function withDone(tour: Tour, step: TourStep): Tour {
  return { ...tour, done: tourSteps.filter((each) => each === step || tour.done.includes(each)) }
}

/** Returns the step of the fragment of a URL, or the first one. */
export function stepOf(hash: string): TourStep {
  return tourSteps.find((step) => `#${step}` === hash) ?? 'sign-in'
}
