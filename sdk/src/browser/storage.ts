import { CountersignError } from '../shared/error.ts'

/** What this tab keeps. Throws `no_storage` where the browser lets the page keep nothing, as in some frames. */
export function tabStorage(): Storage {
  try {
    return sessionStorage
  } catch (error) {
    throw noStorage(error)
  }
}

export function noStorage(cause: unknown): CountersignError {
  const description = 'This browser lets the page keep nothing, and a sign-in must be told again when it comes back.'
  return new CountersignError({ code: 'no_storage', description }, { cause })
}
