import { Refused } from '../../lib/call.ts'

/** The id of the sign-in that has led to this page. */
export function arrivalOfPage(): string {
  return new URLSearchParams(location.search).get('flow') ?? ''
}

/** The answer; undefined where this sign-in has expired, was used before, or never began. */
export async function unlessOver<T>(asking: Promise<T>): Promise<T | undefined> {
  return asking.catch((error: unknown) => {
    if (error instanceof Refused && /^(invalid_sso_flow|sso_not_available)$/.test(error.code)) return undefined
    throw error
  })
}
