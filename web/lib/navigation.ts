import { isEncryptionScope } from '@countersign/protocol/formats/scope'
import type { AuthorizationResponse, Site } from '@countersign/protocol/pages'
import { reportUnexpected } from './api/error-message.ts'

/** Sends an authorization response to the app: by a redirect, or by a form that the browser posts. */
export function submitRedirect({ url, fields }: AuthorizationResponse): void {
  if (!fields) return location.replace(url)
  const form = document.createElement('form')
  form.method = 'post'
  form.action = url
  form.hidden = true
  form.append(...Object.entries(fields).map(([name, value]) => hiddenInput(name, value)))
  document.body.append(form)
  // Called on the prototype, because a field of the form may be named `submit`.
  HTMLFormElement.prototype.submit.call(form)
}

function hiddenInput(name: string, value: string): HTMLInputElement {
  const input = document.createElement('input')
  input.type = 'hidden'
  input.name = name
  input.value = value
  return input
}

/** Returns the part of a URL that users may recognize: the host of a website, or the scheme of an installed app. */
export function redirectTargetLabel(address: string): string {
  const url = URL.parse(address)
  if (!url) return address
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : url.protocol.slice(0, -1)
}

/**
 * Returns the URL to open after sign-in: the authorization request that led here, the user's apps or organizations, or
 * their account. URLs of other origins and all other paths are ignored, so that a link cannot send a signed-in user
 * elsewhere.
 */
export function returnUrl(
  search: string,
  { baseUrl, authUrl, businessUrl }: Pick<Site, 'baseUrl' | 'authUrl' | 'businessUrl'>,
): string {
  const requested = new URLSearchParams(search).get('return')
  const url = requested === null ? null : URL.parse(requested, authUrl)
  if (url?.origin === businessUrl && /^\/(organizations|invitations)(\/.*)?$/.test(url.pathname)) return url.href
  // The last page in a window that the browser opened for a FedCM sign-in.
  if (url?.href === `${baseUrl}/fedcm/resolve`) return url.href
  if (
    url?.origin !== authUrl ||
    !/^\/(signin|connect|sso\/link|organization-keys|(account|admin|developers)(\/.*)?)$/.test(url.pathname)
  )
    return '/account'
  return `${url.pathname}${url.search}`
}

/**
 * Returns whether a session that SSO opens can use the page to return to: the pages of organizations, where users go
 * who have no other destination, or an authorization request that `acceptsSso` of its own page accepts, as far as the
 * address shows. It shows neither the settings of the app nor stored parameters.
 */
export function acceptsSsoAt(returnTo: string, { authUrl, businessUrl }: Pick<Site, 'authUrl' | 'businessUrl'>) {
  if (returnTo === '/account') return true
  const { origin, pathname, searchParams } = new URL(returnTo, authUrl)
  // The hosts may share an origin.
  if (origin === businessUrl && /^\/organizations(\/|$)/.test(pathname)) return true
  if (origin !== authUrl || pathname !== '/signin') return false
  if (searchParams.has('max_age') || searchParams.has('resource')) return false
  if (searchParams.get('prompt')?.split(' ').includes('login')) return false
  const scope = searchParams.get('scope')?.split(' ') ?? []
  if (scope.some((each) => each === 'user_id' || isEncryptionScope(each))) return false
  return searchParams.has('organization_id')
}

/** Returns whether a signed-in user is sent here to re-authenticate. */
export function requiresReauthentication(search: string): boolean {
  return new URLSearchParams(search).has('prove')
}

/** Returns whether the browser requires another account, or a new sign-in with the same one. */
export function requiresOtherAccount(search: string): boolean {
  return new URLSearchParams(search).has('other')
}

/** Returns the URL of a page that precedes the sign-in, with the URL to return to. */
export function withReturnUrl(page: '/register' | '/login' | '/recover' | '/sso', returnTo: string): string {
  return returnTo === '/account' ? page : `${page}?return=${encodeURIComponent(returnTo)}`
}

/** Calls back whenever the user returns to this tab from another one. */
export function onBecomesVisible(work: () => Promise<void>): () => void {
  const seen = () => void work().catch(reportUnexpected)
  addEventListener('focus', seen)
  return () => removeEventListener('focus', seen)
}

let isLeaving = false

/** Opens a page without a question: what this page holds cannot be saved any more. */
export function leaveTo(url: string): void {
  isLeaving = true
  location.assign(url)
}

/**
 * Makes the browser ask for confirmation before the user leaves, until the returned function is called. The page holds
 * what would be lost: a draft, the secret of an app, which cannot be shown again, or a recovery code. Without that,
 * keys that no passkey unlocks are lost.
 */
export function confirmBeforeUnload(): () => void {
  const preventUnload = (event: BeforeUnloadEvent) => isLeaving || event.preventDefault()
  addEventListener('beforeunload', preventUnload)
  return () => removeEventListener('beforeunload', preventUnload)
}
