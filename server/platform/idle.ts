import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pass } from 'node:timers/promises'

/** The place of a request among those that a process works on. */
export type Place = {
  /** Gives the place to others until the request comes back. */
  leave: () => void
  comeBack: () => void
}

const places = new AsyncLocalStorage<Place>()

/** Runs a request at its place: what it waits for there by `whileIdle` gives the place to others. */
export function runAt(place: Place, run: () => void): void {
  places.run(place, run)
}

/**
 * Waits for what costs this process nothing: a time, an answer from elsewhere, an act of a person. Meanwhile others may
 * have the place of the request; where there is no request, there is none to give.
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

/** Lets so much time pass; none where that is over already. */
export async function idle(milliseconds: number): Promise<void> {
  if (milliseconds > 0) await whileIdle(() => pass(milliseconds))
}
