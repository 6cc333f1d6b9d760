import { call } from '../api/call.ts'

type Start = { loginHint?: string; returnTo?: string | undefined }

/**
 * Starts a login at the identity provider of an organization. A login that a page of this service started needs no
 * confirmation. A login that a link of another site started does.
 *
 * @param loginUrl The URL that starts the login, as the API returns it: `{base_url}/api/sso/{connectionId}/start`.
 * @param start `returnTo`: the URL of a page of this service. Without it, the user goes to their organizations.
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
