import type { PendingRequest } from './callback.ts'
import type { TourStep } from './tour.ts'

type App = { clientId: string; redirectUri: string; authUrl: string }

export const scope = 'openid profile email offline_access'

/** Generates the values of one request, 256 random bits each. */
export function createPendingRequest(step: TourStep = 'sign-in'): PendingRequest {
  return { step, state: randomText(), nonce: randomText(), verifier: randomText() }
}

/** Returns the URL that starts a sign-in, with PKCE (RFC 7636 §4.3). */
export async function authorizationUrl(
  { clientId, redirectUri, authUrl }: App,
  sent: PendingRequest,
  more: Record<string, string> = {},
): Promise<string> {
  const url = new URL('/signin', authUrl)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state: sent.state,
    nonce: sent.nonce,
    code_challenge: await challengeOf(sent.verifier),
    code_challenge_method: 'S256',
    ...more,
  }).toString()
  return url.href
}

/** Computes the `S256` code challenge (RFC 7636 §4.2). */
export async function challengeOf(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))))
}

function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)))
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
