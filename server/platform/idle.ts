import { setTimeout as pass } from 'node:timers/promises'
import { currentPlace } from './request-place.ts'

/**
 * Waits for something that costs this process nothing: time, a response of another service, an action of a user.
 * Meanwhile other requests can use the place of this one, if there is a request.
 */
export async function whileIdle<Result>(wait: () => Promise<Result>): Promise<Result> {
  const place = currentPlace()
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
