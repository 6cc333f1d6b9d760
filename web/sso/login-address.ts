type From = { email: string; returnTo: string; origin: string }

/** Where the sign-in of an organization begins, told who comes and where they go afterwards. */
export function loginAddress(loginUrl: string, { email, returnTo, origin }: From): string {
  const url = new URL(loginUrl)
  url.searchParams.set('login_hint', email)
  // Whoever was on the way to nothing else goes to their organization.
  if (returnTo !== '/account') url.searchParams.set('return_to', new URL(returnTo, origin).href)
  return url.href
}
