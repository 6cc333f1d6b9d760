import type { Identity } from '@countersign/protocol/accounts/identities'
import type { Leaving, SignInView } from '@countersign/protocol/pages'
import { call, Refused } from '../../lib/call.ts'

/**
 * Turns the answer that an address would take to the app into the assertion that the browser gives it, and answers the
 * page that hands it over, with the assertion in its fragment. Where nothing waits for it any more it is the page that
 * says so: here nobody could do anything about it.
 */
export async function toBrowser(
  { app, redirectUri }: Pick<SignInView, 'app' | 'redirectUri'>,
  { identityId }: Identity,
  { url }: Leaving,
): Promise<Leaving> {
  const { searchParams } = new URL(url)
  const body = {
    code: searchParams.get('code') ?? '',
    state: searchParams.get('state') ?? '',
    clientId: app.clientId,
  }
  try {
    const { assertion } = await call('POST /api/oauth/fedcm/finalize', { body })
    return { url: `${redirectUri}#${new URLSearchParams({ assertion, account: identityId })}` }
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'invalid_grant') throw error
    return { url: new URL('error?code=expired', redirectUri).href }
  }
}
