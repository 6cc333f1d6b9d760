/**
 * Where a person goes after signing in: the authorization request that sent them here, or their apps, else their
 * account. Anything else, or of another origin, is ignored, so that a link can't send a signed-in person elsewhere.
 */
export function returnAddress(search: string, origin: string): string {
  const wanted = new URLSearchParams(search).get('return')
  const url = wanted === null ? null : URL.parse(wanted, origin)
  if (url?.origin !== origin || !/^\/(signin|connect|sso\/link|developers(\/.*)?)$/.test(url.pathname))
    return '/account'
  return `${url.pathname}${url.search}`
}

/** A page that comes before the sign-in, told where to return to. */
export function addressWithReturn(page: '/register' | '/login' | '/recover' | '/sso', returnTo: string): string {
  return returnTo === '/account' ? page : `${page}?return=${encodeURIComponent(returnTo)}`
}
