import { refusals } from '#platform/refusal.ts'

const refuse = refusals({
  invalid_request: [400, 'The resource must be acct:handle@host or the address of a profile.'],
  not_found: [404, 'This resource is of another host.'],
})

const issuerRelation = 'http://openid.net/specs/connect/1.0/issuer'

/**
 * The issuer of a resource (RFC 7033, OpenID Connect Discovery §2): `acct:handle@host`, `{auth_url}/@handle`, or
 * itself. Every account of our host is answered alike, whether it exists or not. Refuses `invalid_request`,
 * `not_found`.
 */
export function findIssuer(authUrl: URL, resource: string, relation: string | undefined) {
  if (hostOf(resource) !== authUrl.host) throw refuse.not_found()
  const link = { rel: issuerRelation, href: authUrl.origin }
  return { subject: resource, links: relation === undefined || relation === issuerRelation ? [link] : [] }
}

function hostOf(resource: string): string {
  const account = /^acct:[^@\s]{1,200}@([^@\s/?#]+)$/i.exec(resource)?.[1]
  if (account) return account.toLowerCase()
  const url = URL.parse(resource)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw refuse.invalid_request()
  if (!/^\/(@[^/]+)?$/.test(url.pathname)) throw refuse.not_found()
  return url.host
}
