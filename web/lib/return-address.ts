import type { Site } from '@countersign/protocol/pages'

/**
 * Where a person goes after signing in: the authorization request that sent them here, or their apps, or their
 * organizations, else their account. Anything else, or of another origin, is ignored, so that a link can't send a
 * signed-in person elsewhere.
 */
export function returnAddress(
  search: string,
  { baseUrl, authUrl, businessUrl }: Pick<Site, 'baseUrl' | 'authUrl' | 'businessUrl'>,
): string {
  const wanted = new URLSearchParams(search).get('return')
  const url = wanted === null ? null : URL.parse(wanted, authUrl)
  if (url?.origin === businessUrl && /^\/(organizations|invitations)(\/.*)?$/.test(url.pathname)) return url.href
  // The end of a window that the browser opened for somebody to sign in.
  if (url?.href === `${baseUrl}/fedcm/resolve`) return url.href
  if (
    url?.origin !== authUrl ||
    !/^\/(signin|connect|sso\/link|organization-keys|developers(\/.*)?)$/.test(url.pathname)
  )
    return '/account'
  return `${url.pathname}${url.search}`
}

/** Whether the person is sent here to prove again who they are, though they are signed in. */
export function asksForProof(search: string): boolean {
  return new URLSearchParams(search).has('prove')
}

/** Whether another person is to sign in, or the same one anew: the browser has asked for that. */
export function asksForOther(search: string): boolean {
  return new URLSearchParams(search).has('other')
}

/** A page that comes before the sign-in, told where to return to. */
export function addressWithReturn(page: '/register' | '/login' | '/recover' | '/sso', returnTo: string): string {
  return returnTo === '/account' ? page : `${page}?return=${encodeURIComponent(returnTo)}`
}
