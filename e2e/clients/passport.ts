import { Passport } from 'passport'
import { Strategy, type Profile, type VerifyCallback } from 'passport-openidconnect'
import type { Served } from '../../server/testing/service.ts'
import { greeting, openSite } from './site.ts'

/** A server with unmodified Passport and its OpenID Connect strategy, with each endpoint configured. */
export async function openPassport(service: Served) {
  const site = await openSite(service, 'passport')
  const { clientId, clientSecret = '' } = await site.register('/callback')
  const discovered = await fetch(`${service.authUrl}/.well-known/openid-configuration`)
  const metadata = (await discovered.json()) as Record<string, string>
  const settings = {
    issuer: service.authUrl,
    authorizationURL: metadata['authorization_endpoint'] ?? '',
    tokenURL: metadata['token_endpoint'] ?? '',
    userInfoURL: metadata['userinfo_endpoint'] ?? '',
    clientID: clientId,
    clientSecret,
    callbackURL: `${site.origin}/callback`,
    scope: ['profile'],
  }
  const verify = (_issuer: string, profile: Profile, done: VerifyCallback) => done(null, profile)
  const authenticate = new Passport()
    .use(new Strategy(settings, verify))
    .authenticate('openidconnect', { session: false })

  // One visitor is enough: the strategy stores its state and nonce here while the user is away.
  const session = {}
  site.serve((request, response) => {
    Object.assign(request, {
      session,
      query: Object.fromEntries(new URL(request.url ?? '/', site.origin).searchParams),
    })
    authenticate(request, response, (error: unknown) => {
      if (error instanceof Error) return response.writeHead(500).end(error.message)
      const { displayName } = Reflect.get(request, 'user') as Profile
      return response.setHeader('content-type', 'text/html').end(greeting(displayName))
    })
  })
  return site
}
