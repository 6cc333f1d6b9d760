import { call } from './call.ts'

type Start = { loginHint?: string; returnTo?: string | undefined }

/**
 * Leads to the provider of an organization. Because a page of ours begins the sign-in, nobody is asked whether they
 * meant to; from a link anywhere else, they are.
 *
 * @param loginUrl Where the sign-in begins, as the API names it: `{base_url}/api/sso/{connectionId}/start`.
 * @param start `returnTo`: the address of a page of ours; without it the user goes to their organizations.
 */
export async function startSso(loginUrl: string, start: Start): Promise<void> {
  const { url } = await call('POST /api/sso/:connectionId/start', startOf(loginUrl, start))
  location.assign(url)
}

export function startOf(loginUrl: string, { loginHint, returnTo }: Start) {
  const connectionId = new URL(loginUrl).pathname.split('/').at(-2) ?? ''
  const body = { ...(loginHint !== undefined && { loginHint }), ...(returnTo !== undefined && { returnTo }) }
  return { params: { connectionId }, body }
}
