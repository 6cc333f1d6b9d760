import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pass } from 'node:timers/promises'

/** Place of a request among those in progress. */
export type Place = {
  /** Releases the place until the request returns. */
  leave: () => void
  comeBack: () => void
}

const places = new AsyncLocalStorage<Place>()

/** Runs a request in its place. While it waits by `whileIdle`, other requests can use the place. */
export function runAt(place: Place, run: () => void): void {
  if (places.getStore() === place) run()
  else places.run(place, run)
}

/**
 * Waits for something that costs this process nothing: time, a response of another service, an action of a user.
 * Meanwhile other requests can use the place of this one, if there is a request.
 */
export async function whileIdle<Result>(wait: () => Promise<Result>): Promise<Result> {
  const place = places.getStore()
  place?.leave()
  try {
    return await wait()
  } finally {
    place?.comeBack()
  }
}

/** Waits for a time. Returns at once if it is not positive. */
export async function idle(milliseconds: number): Promise<void> {
  if (milliseconds > 0) await whileIdle(() => pass(milliseconds))
}
