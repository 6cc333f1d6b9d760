import * as endpoints from '@countersign/protocol/accounts/passkeys'
import * as sessionEndpoints from '@countersign/protocol/accounts/sessions'
import { listKeyWraps } from '#accounts/keys/key-wrap.ts'
import { listActing, listIdentities } from '#accounts/identities/identity.ts'
import { numericDate } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { languageOf } from '#platform/outbound/language.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { Refusal } from '#platform/refusal.ts'
import { setSessionCookies, type SessionTokens } from '#accounts/sessions/cookie.ts'
import { browserOf, listSessions, openForBusiness, requireFresh, sessionGuard } from '#accounts/sessions/session.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { finishAddition, startAddition } from './addition.ts'
import { bindToBrowser, flowClientOf, forgetBrowser } from './browser-binding.ts'
import { isPasskeyKnown, listPasskeys, removePasskey, renamePasskey } from './passkey.ts'
import { finishReauthentication, startReauthentication } from './reauthentication.ts'
import { finishRegistration, startRegistration } from './registration.ts'
import { finishRecovery, startRecovery } from './recovery.ts'
import { finishSignIn, startSignIn } from './sign-in.ts'
import { signOutRoutes } from '#oauth/logout/session-routes.ts'

/** A person who has just signed in. */
type SignedIn = SessionTokens & { expiresAt: Date; userId: string }

export function passkeyRoutes(host: Host, kernel: Kernel, keys: SigningKeys): void {
  registrationRoutes(host, kernel)
  signInRoutes(host, kernel)
  recoveryRoutes(host, kernel)
  sessionRoutes(host, kernel)
  signOutRoutes(host, kernel, keys)
  reauthenticationRoutes(host, kernel)
  ownPasskeyRoutes(host, kernel)
}

/** Where password managers send people who want to add a passkey, or see them (W3C, Passkey Endpoints). */
export function passkeyDiscovery(host: Host, { authUrl }: Config): void {
  const page = new URL('/account/passkeys', authUrl).href
  host.route({ ...endpoints.passkeyEndpoints, handler: () => ({ enroll: page, manage: page }) })
}

function registrationRoutes(host: Host, kernel: Kernel): void {
  const { config, rateLimits } = kernel

  host.route({
    ...endpoints.startRegistration,
    async handler(request, reply) {
      await rateLimits.count('register start', addressKey(request))
      const browserSha256 = bindToBrowser(request, reply, config.baseUrl)
      return startRegistration(kernel, { ...request.body, browserSha256 })
    },
  })

  host.route({
    ...endpoints.finishRegistration,
    async handler(request, reply) {
      const finish = { ...request.body, client: flowClientOf(request, config.baseUrl) }
      const registered = await finishRegistration(kernel, finish, browserOf(request, config.baseUrl))
      setSessionCookies(reply, registered, config.baseUrl)
      return reply.status(201).send({
        sessionToken: registered.token,
        expiresAt: registered.expiresAt.toISOString(),
        user: { userId: registered.userId },
        identities: [registered.identity],
      })
    },
  })
}

function signInRoutes(host: Host, kernel: Kernel): void {
  const { db, config, rateLimits } = kernel

  host.route({
    ...endpoints.startSignIn,
    async handler(request, reply) {
      await rateLimits.count('sign-in start', addressKey(request))
      const browserSha256 = bindToBrowser(request, reply, config.baseUrl)
      return startSignIn(kernel, request.body.requestUri, { browserSha256 })
    },
  })

  host.route({
    ...endpoints.finishSignIn,
    async handler(request, reply) {
      const address = addressKey(request)
      await rateLimits.check('failed sign-in', address)
      const finish = { ...request.body, client: flowClientOf(request, config.baseUrl) }
      const signedIn = await finishSignIn(kernel, finish, browserOf(request, config.baseUrl)).catch(
        async (error: unknown) => {
          if (error instanceof Refusal) await rateLimits.count('failed sign-in', address)
          throw error
        },
      )
      setSessionCookies(reply, signedIn, config.baseUrl)
      return tellSignedIn(db, signedIn)
    },
  })

  host.route({
    ...endpoints.isPasskeyKnown,
    async handler(request) {
      await rateLimits.count('passkey lookup', addressKey(request))
      return { known: await isPasskeyKnown(db, request.body.credentialId) }
    },
  })
}

function recoveryRoutes(host: Host, kernel: Kernel): void {
  const { db, config, rateLimits } = kernel

  host.route({
    ...endpoints.startRecovery,
    async handler(request, reply) {
      // By address alone: a code is of 160 bits and cannot be guessed, and a limit for each handle would let a stranger
      // keep its owner from recovering.
      const address = addressKey(request)
      await rateLimits.check('failed recovery', address)
      const browserSha256 = bindToBrowser(request, reply, config.baseUrl)
      return startRecovery(kernel, { ...request.body, browserSha256 }).catch(async (error: unknown) => {
        if (error instanceof Refusal) await rateLimits.count('failed recovery', address)
        throw error
      })
    },
  })

  host.route({
    ...endpoints.finishRecovery,
    async handler(request, reply) {
      const finish = { ...request.body, client: flowClientOf(request, config.baseUrl) }
      const recovered = await finishRecovery(kernel, finish, {
        browser: browserOf(request, config.baseUrl),
        language: languageOf(request),
      })
      setSessionCookies(reply, recovered, config.baseUrl)
      return tellSignedIn(db, recovered)
    },
  })
}

async function tellSignedIn(db: Kernel['db'], { token, expiresAt, userId }: SignedIn) {
  return {
    sessionToken: token,
    expiresAt: expiresAt.toISOString(),
    user: { userId },
    identities: await listIdentities(db, userId),
    keyWraps: await listKeyWraps(db, userId),
  }
}

function sessionRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...sessionEndpoints.readSession,
    onRequest: session.onRequest,
    async handler(request) {
      const acting = session.of(request)
      const { userId, authTime, authMethod, expiresAt } = acting
      const now = clock()
      return {
        user: { userId },
        identities: await listActing(db, acting),
        authTime: authTime.toISOString(),
        secondsSinceAuthTime: Math.max(0, numericDate(now) - numericDate(authTime)),
        authMethod,
        expiresAt: expiresAt.toISOString(),
      }
    },
  })

  host.route({
    ...sessionEndpoints.createBusinessToken,
    onRequest: session.onRequest,
    async handler(request, reply) {
      return reply.status(201).send(await openForBusiness(kernel, session.of(request), request, clock()))
    },
  })

  host.route({
    ...sessionEndpoints.listSessions,
    onRequest: session.onRequest,
    async handler(request) {
      return { sessions: await listSessions(db, session.of(request), clock()) }
    },
  })
}

function reauthenticationRoutes(host: Host, kernel: Kernel): void {
  const { config } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.startReauthentication,
    onRequest: session.onRequest,
    handler(request, reply) {
      const browserSha256 = bindToBrowser(request, reply, config.baseUrl)
      return startReauthentication(kernel, session.of(request), { requestUri: request.body?.requestUri, browserSha256 })
    },
  })

  host.route({
    ...endpoints.finishReauthentication,
    onRequest: session.onRequest,
    async handler(request) {
      const finish = { ...request.body, client: flowClientOf(request, config.baseUrl) }
      const authTime = await finishReauthentication(kernel, session.of(request), finish)
      return { authTime: authTime.toISOString() }
    },
  })
}

function ownPasskeyRoutes(host: Host, kernel: Kernel): void {
  const { db, clock, config } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listPasskeys,
    onRequest: session.onRequest,
    async handler(request) {
      return { passkeys: await listPasskeys(db, session.of(request).userId) }
    },
  })

  host.route({
    ...endpoints.startPasskey,
    onRequest: session.onRequest,
    handler(request, reply) {
      const browserSha256 = bindToBrowser(request, reply, config.baseUrl)
      return startAddition(kernel, session.of(request), { browserSha256 })
    },
  })

  host.route({
    ...endpoints.finishPasskey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const finish = { ...request.body, client: flowClientOf(request, config.baseUrl) }
      return reply.status(201).send(await finishAddition(kernel, session.of(request), finish))
    },
  })

  host.route({
    ...endpoints.renamePasskey,
    onRequest: session.onRequest,
    handler: (request) =>
      renamePasskey(db, { ...request.body, ...request.params, session: session.of(request) }, clock()),
  })

  host.route({
    ...endpoints.removePasskey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const now = clock()
      const acting = session.of(request)
      requireFresh(acting, now)
      const { goesOn } = await removePasskey(db, { session: acting, ...request.params }, now)
      if (!goesOn) forgetBrowser(reply, config.baseUrl)
      return reply.status(204).send(null)
    },
  })
}
