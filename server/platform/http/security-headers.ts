import { inHeader } from '#platform/origin.ts'

/**
 * Security headers, with every value written out for readability. `strict-transport-security` is added on hosts with
 * https.
 */
const everywhere = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': [
    ...['camera=()', 'geolocation=()', 'microphone=()', 'payment=()', 'usb=()'],
    ...['publickey-credentials-get=(self)', 'publickey-credentials-create=(self)'],
  ].join(', '),
} as const

/** Policy of a data response: nothing in it may run, load or be framed. */
export const dataPolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

export function securityHeaders(origin: URL): Record<string, string> {
  const transport =
    origin.protocol === 'https:' ? { 'strict-transport-security': 'max-age=63072000; includeSubDomains' } : {}
  return { ...everywhere, ...transport, 'content-security-policy': dataPolicy }
}

/** Policy that keeps a popup and the page that opened it connected. */
export const openerKept = { 'cross-origin-opener-policy': 'unsafe-none' } as const

type Allowed = {
  asks: URL[]
  /** Host of the pictures of users, apps and organizations, for a page that shows them. */
  pictures?: URL
  postsForms: boolean
  framedBy: string[]
  styleNonce?: string | undefined
}

/**
 * Returns the policy of a page: its own scripts and styles, the API, and nothing else. If it posts a form to an app,
 * `form-action` names no host, because browsers apply the list to the app's redirects too. `framedBy` lists the origins
 * that may frame it.
 */
export function pagePolicy({ asks, pictures, postsForms, framedBy, styleNonce }: Allowed): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    styleNonce === undefined ? "style-src 'self'" : `style-src 'self' 'nonce-${styleNonce}'`,
    `img-src 'self' ${pictures ? inHeader(pictures.origin) : ''}`,
    "font-src 'self'",
    `connect-src 'self' ${asks.map(({ origin }) => inHeader(origin)).join(' ')}`,
    postsForms ? 'form-action https: http:' : "form-action 'self'",
    `frame-ancestors ${framedBy.map(inHeader).join(' ') || "'none'"}`,
    "base-uri 'none'",
  ].join('; ')
}
