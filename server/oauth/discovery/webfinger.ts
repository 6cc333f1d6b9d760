import { defineErrors } from '#platform/api-error.ts'

const errors = defineErrors({
  invalid_request: [400, 'resource must be acct:handle@host or a profile URL.'],
  not_found: [404, 'The resource belongs to another host.'],
})

const issuerRelation = 'http://openid.net/specs/connect/1.0/issuer'

/**
 * Resolves the issuer of a resource (RFC 7033, OpenID Connect Discovery §2): `acct:handle@host`, `{auth_url}/@handle`,
 * or the issuer itself. An account may also name the host with its port, which RFC 7565 does not allow.
 *
 * The answer is the same for every account of our host, whether it exists or not. It has only links of the given
 * relations, if any are given (RFC 7033 §4.3). Throws `invalid_request`, `not_found`.
 */
export function resolveWebFinger(authUrl: URL, resource: string, relations: string[]) {
  if (!isOurs(authUrl, resource)) throw errors.not_found()
  const link = { rel: issuerRelation, href: authUrl.origin }
  return { subject: resource, links: relations.length === 0 || relations.includes(issuerRelation) ? [link] : [] }
}

function isOurs({ host, hostname }: URL, resource: string): boolean {
  const hostOfAccount = /^acct:[^@\s]{1,200}@([^@\s/?#]+)$/i.exec(resource)?.[1]?.toLowerCase()
  if (hostOfAccount) return hostOfAccount === hostname || hostOfAccount === host
  const url = URL.parse(resource)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw errors.invalid_request()
  if (!/^\/(@[^/]+)?$/.test(url.pathname)) throw errors.not_found()
  return url.host === host
}
