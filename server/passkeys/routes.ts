import * as endpoints from '@countersign/protocol/passkeys'
import * as sessionEndpoints from '@countersign/protocol/sessions'
import { listKeyWraps } from '#encryption/key-wrap.ts'
import { listIdentities } from '#identity/identity.ts'
import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { addressKey } from '#kernel/rate-limit.ts'
import { Refusal } from '#kernel/refusal.ts'
import { clearSessionCookie, setSessionCookie } from '#sessions/cookie.ts'
import { sessionGuard } from '#sessions/session.ts'
import { listPasskeys } from './passkey.ts'
import { finishReauthentication, startReauthentication } from './reauthentication.ts'
import { finishRegistration, startRegistration } from './registration.ts'
import { finishSignIn, startSignIn } from './sign-in.ts'
import { signOut } from './sign-out.ts'

export function passkeyRoutes(host: Host, kernel: Kernel): void {
  registrationRoutes(host, kernel)
  signInRoutes(host, kernel)
  sessionRoutes(host, kernel)
}

function registrationRoutes(host: Host, kernel: Kernel): void {
  const { config, rateLimits } = kernel

  host.route({
    ...endpoints.startRegistration,
    async handler(request) {
      await rateLimits.count('register start', addressKey(request))
      return startRegistration(kernel, request.body)
    },
  })

  host.route({
    ...endpoints.finishRegistration,
    async handler(request, reply) {
      const registered = await finishRegistration(kernel, request.body, request.headers['user-agent'])
      setSessionCookie(reply, registered.token, config.baseUrl)
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
    async handler(request) {
      await rateLimits.count('sign-in start', addressKey(request))
      return startSignIn(kernel)
    },
  })

  host.route({
    ...endpoints.finishSignIn,
    async handler(request, reply) {
      const address = addressKey(request)
      await rateLimits.check('failed sign-in', address)
      const signedIn = await finishSignIn(kernel, request.body, request.headers['user-agent']).catch(
        async (error: unknown) => {
          if (error instanceof Refusal) await rateLimits.count('failed sign-in', address)
          throw error
        },
      )
      setSessionCookie(reply, signedIn.token, config.baseUrl)
      return {
        sessionToken: signedIn.token,
        expiresAt: signedIn.expiresAt.toISOString(),
        user: { userId: signedIn.userId },
        identities: await listIdentities(db, signedIn.userId),
        keyWraps: await listKeyWraps(db, signedIn.userId),
      }
    },
  })
}

function sessionRoutes(host: Host, kernel: Kernel): void {
  const { db, config } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...sessionEndpoints.readSession,
    onRequest: session.onRequest,
    async handler(request) {
      const { userId, authTime, expiresAt } = session.of(request)
      return {
        user: { userId },
        identities: await listIdentities(db, userId),
        authTime: authTime.toISOString(),
        authMethod: 'passkey' as const,
        expiresAt: expiresAt.toISOString(),
      }
    },
  })

  host.route({
    ...sessionEndpoints.endSession,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await signOut(kernel, session.of(request))
      clearSessionCookie(reply, config.baseUrl)
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.startReauthentication,
    onRequest: session.onRequest,
    handler: (request) => startReauthentication(kernel, session.of(request)),
  })

  host.route({
    ...endpoints.finishReauthentication,
    onRequest: session.onRequest,
    async handler(request) {
      const authTime = await finishReauthentication(kernel, session.of(request), request.body)
      return { authTime: authTime.toISOString() }
    },
  })

  host.route({
    ...endpoints.listPasskeys,
    onRequest: session.onRequest,
    async handler(request) {
      return { passkeys: await listPasskeys(db, session.of(request).userId) }
    },
  })
}
