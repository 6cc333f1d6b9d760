import type { Api, RequestOf, ResponseOf } from '@countersign/protocol/api'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { callBusiness as callHost } from '../../../lib/api/business-call.ts'
import { ApiError, call } from '../../../lib/api/call.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'
import type { SignedActionName } from './acts.ts'
import { useState } from 'preact/hooks'
import { hasKeptInput, keepInput } from './kept-input.ts'

export { callBusinessForText } from '../../../lib/api/business-call.ts'

/**
 * Calls an endpoint of the business host as the signed-in user, except the ones that take a signature (`act`). Throws
 * `ApiError` or `NetworkError`.
 */
export function callBusiness<Name extends Exclude<keyof Api, SignedActionName>>(
  name: Name,
  given: RequestOf<Name>,
): Promise<ResponseOf<Name>> {
  return callHost(name, given)
}

/** Returns whether no user is signed in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}

/** Goes to the sign-in page, which returns to this view. */
export function signIn(): void {
  location.replace(loginAndBackTo(location.pathname === '/' ? `${location.origin}/organizations` : location.href))
}

/** The minimum remaining validity of an authentication, so that it does not expire between a dialog and its answer. */
const answeredWithinSeconds = 60

/** Returns whether the user has authenticated recently enough. */
async function isFresh(): Promise<boolean> {
  const { secondsSinceAuthTime } = await call('GET /api/auth/session', {})
  return secondsSinceAuthTime + answeredWithinSeconds < pageLimits.freshAuthenticationSeconds
}

/**
 * Goes to the page that re-authenticates the user and then returns here. Passkeys only work on the host of the other
 * pages. The promise never settles.
 */
function reauthenticate(fragment = ''): Promise<never> {
  const place = new URL(location.href)
  place.hash = fragment
  keepInput('authenticate')
  location.assign(`${loginAndBackTo(place.href)}&prove`)
  return new Promise(() => {})
}

type OwnMembership = { id: string; identityId: string }

/** Returns the URL of the page that creates and shares organization keys, and then returns to this view. */
export function organizationKeysUrl({ id, identityId }: OwnMembership, { renews }: { renews: boolean }): string {
  const query = new URLSearchParams({ organization: id, identity: identityId, return: location.href })
  if (renews) query.set('renew', '')
  return `${readSiteSettings().authUrl}/organization-keys?${query}`
}

/**
 * Calls an endpoint that requires recent authentication. Otherwise the user re-authenticates, returns, and repeats the
 * action.
 */
export async function withRecentAuthentication<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'reauthentication_required')) throw error
    return reauthenticate()
  }
}

function loginAndBackTo(place: string): string {
  return `${readSiteSettings().authUrl}/login?return=${encodeURIComponent(place)}`
}

/**
 * A dialog that requires recent authentication. A user who has to re-authenticate returns to the open dialog, which the
 * fragment of the URL names. So does a user who left it to sign, and has not signed: the name is that of its form.
 */
export function useReauthenticatedDialog(name: string) {
  const [isOpen, setIsOpen] = useState(() => location.hash === `#${name}` || hasKeptInput(name))
  return {
    isOpen,
    open: async () => ((await isFresh()) ? setIsOpen(true) : reauthenticate(name)),
    close: () => {
      history.replaceState(null, '', location.pathname)
      setIsOpen(false)
    },
  }
}
