import { inHeader } from '#platform/origin.ts'

/**
 * The security headers, each value written out, so that one can read what a browser is told.
 * `strict-transport-security` joins them where the host is served over https.
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

/** An answer that is data: nothing in it may run, load or be framed. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

export function securityHeaders(origin: URL): Record<string, string> {
  const transport =
    origin.protocol === 'https:' ? { 'strict-transport-security': 'max-age=63072000; includeSubDomains' } : {}
  return { ...everywhere, ...transport, 'content-security-policy': dataPolicy }
}

type Allowed = { asks: URL[]; postsForms: boolean; framedBy: string[] }

/**
 * A page of ours: its own scripts and styles, our API, and nothing from anywhere else. Where it posts a form to an app,
 * `form-action` names no host: browsers hold the redirects that the app answers with to the same list. `framedBy` are
 * the origins that may show it in a frame.
 */
export function pagePolicy({ asks, postsForms, framedBy }: Allowed): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${asks.map(({ origin }) => inHeader(origin)).join(' ')}`,
    postsForms ? 'form-action https: http:' : "form-action 'self'",
    `frame-ancestors ${framedBy.map(inHeader).join(' ') || "'none'"}`,
    "base-uri 'none'",
  ].join('; ')
}
