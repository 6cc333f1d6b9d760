import { ApiError } from '../../lib/api/call.ts'

/** Returns the id of the pending login in the URL of this page. */
export function arrivalOfPage(): string {
  return new URLSearchParams(location.search).get('flow') ?? ''
}

/** Returns the result. Returns undefined if the login has expired, was used before, or does not exist. */
export async function unlessOver<T>(request: Promise<T>): Promise<T | undefined> {
  return request.catch((error: unknown) => {
    if (error instanceof ApiError && /^(invalid_sso_flow|sso_connection_unavailable)$/.test(error.code))
      return undefined
    throw error
  })
}
