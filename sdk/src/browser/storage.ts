import { CountersignError } from '../shared/error.ts'

/**
 * Storage of this tab. Throws `storage_unavailable` if the browser does not let the page store data, as in some frames.
 */
export function tabStorage(): Storage {
  try {
    return sessionStorage
  } catch (error) {
    throw noStorage(error)
  }
}

export function noStorage(cause: unknown): CountersignError {
  const description = 'This browser blocks storage for the page. A sign-in by redirect requires session storage.'
  return new CountersignError({ code: 'storage_unavailable', description }, { cause })
}
