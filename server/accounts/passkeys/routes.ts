import * as endpoints from '@countersign/protocol/accounts/passkeys'
import * as sessionEndpoints from '@countersign/protocol/accounts/sessions'
import type { CurrentSession } from '@countersign/protocol/accounts/sessions'
import type { UserId } from '@countersign/protocol/ids'
import { recoveryCodeCreatedAt } from '#accounts/keys/recovery-code.ts'
import { isAvailableHandle, isBrandHandle } from '#accounts/identities/handle.ts'
import { listIdentitiesOfSession } from '#accounts/identities/identity.ts'
import { toNumericDate } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { negotiateLanguage } from '#platform/outbound/mail.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { ApiError } from '#platform/api-error.ts'
import { type SessionTokens, setSessionCookies, shownUserId } from '#accounts/sessions/cookie.ts'
import {
  clientBrowser,
  createBusinessToken,
  findRequestSession,
  listSessions,
  type RecoveredSession,
  type Session,
  requireRecentAuthentication,
  sessionGuard,
} from '#accounts/sessions/session.ts'
import { finishAddPasskey, startAddPasskey } from './add-passkey.ts'
import type { RecoveredPasskeys } from './assertion.ts'
import { bindToBrowser, flowClientOf, forgetBrowser } from './ceremony.ts'
import { listPasskeys, passkeyExists, removePasskey, renamePasskey } from './passkey.ts'
import { finishReauthentication, finishSignIn, readAccount, startReauthentication, startSignIn } from './sign-in.ts'
import { finishRegistration, startRegistration, type RegistrationServices } from './registration.ts'
import { finishRecovery, startRecovery } from './recovery.ts'

/** Result of a sign-in. */
type SignedIn = SessionTokens & { expiresAt: Date; userId: UserId } & Awaited<ReturnType<typeof readAccount>>

export type PasskeyServices = RegistrationServices & { recoveredPasskeys: RecoveredPasskeys }

export function passkeyRoutes(host: Host, services: PasskeyServices): void {
  const { kernel } = services
  registrationRoutes(host, services)
  signInRoutes(host, services)
  recoveryRoutes(host, services)
  sessionRoutes(host, kernel)
  reauthenticationRoutes(host, services)
  ownPasskeyRoutes(host, services)
}

/** Registers the well-known URL that sends users from password managers to the passkey page (W3C Passkey Endpoints). */
export function passkeyDiscovery(host: Host, { authUrl }: Config): void {
  const page = new URL('/account/passkeys', authUrl).href
  host.route({ ...endpoints.passkeyEndpoints, handler: () => ({ enroll: page, manage: page }) })
}

function registrationRoutes(host: Host, services: PasskeyServices): void {
  const { kernel } = services
  const { db, clock, config, rateLimits } = kernel

  host.route({
    ...endpoints.checkHandle,
    async handler(request) {
      await rateLimits.count('handle-lookups-per-ip', clientAddressKey(request))
      const isFree = await isAvailableHandle(db, request.body, clock())
      return { available: isFree && !isBrandHandle(config, request.body.handle) }
    },
  })

  host.route({
    ...endpoints.startRegistration,
    async handler(request, reply) {
      await rateLimits.count('register-start', clientAddressKey(request))
      const browserSha256 = bindToBrowser(request, reply, config.baseUrl)
      return startRegistration(services, { ...request.body, browserSha256 })
    },
  })

  host.route({
    ...endpoints.finishRegistration,
    async handler(request, reply) {
      const finish = { ...request.body, client: flowClientOf(request, config.baseUrl) }
      const registered = await finishRegistration(services, finish, {
        ...clientBrowser(request, config.baseUrl),
        language: negotiateLanguage(request),
      })
      setSessionCookies(reply, registered, config.baseUrl)
      return reply.status(201).send({
        sessionToken: registered.token,
        expiresAt: registered.expiresAt.toISOString(),
        user: { userId: registered.userId },
        identities: [registered.identity],
        ...registered.fields,
      })
    },
  })
}

function signInRoutes(host: Host, services: PasskeyServices): void {
  const { kernel, recoveredPasskeys } = services
  const { db, config, rateLimits } = kernel

  host.route({
    ...endpoints.startSignIn,
    async handler(request, reply) {
      await rateLimits.count('login-start', clientAddressKey(request))
      const browserSha256 = bindToBrowser(request, reply, config.baseUrl)
      return startSignIn(kernel, request.body.requestUri, { browserSha256 })
    },
  })

  host.route({
    ...endpoints.finishSignIn,
    async handler(request, reply) {
      const address = clientAddressKey(request)
      await rateLimits.check('login-failures-per-ip', address)
      const finish = { ...request.body, client: flowClientOf(request, config.baseUrl) }
      const signedIn = await finishSignIn(services, finish, clientBrowser(request, config.baseUrl)).catch(
        async (error: unknown) => {
          if (error instanceof ApiError) await rateLimits.count('login-failures-per-ip', address)
          throw error
        },
      )
      setSessionCookies(reply, signedIn, config.baseUrl)
      return toSignedIn(signedIn)
    },
  })

  host.route({
    ...endpoints.checkPasskey,
    async handler(request) {
      await rateLimits.count('passkey-lookups-per-ip', clientAddressKey(request))
      const { credentialId } = request.body
      return { known: (await passkeyExists(db, credentialId)) || (await recoveredPasskeys.exists(db, credentialId)) }
    },
  })
}

function recoveryRoutes(host: Host, services: PasskeyServices): void {
  const { kernel } = services
  const { config, rateLimits } = kernel

  host.route({
    ...endpoints.startRecovery,
    async handler(request, reply) {
      // The limit counts by address only. A recovery code has 160 bits and cannot be guessed, and with a limit per
      // handle a stranger could lock its owner out of recovery.
      const address = clientAddressKey(request)
      await rateLimits.check('recovery-failures-per-ip', address)
      const browserSha256 = bindToBrowser(request, reply, config.baseUrl)
      return startRecovery(kernel, { ...request.body, browserSha256 }).catch(async (error: unknown) => {
        if (error instanceof ApiError) await rateLimits.count('recovery-failures-per-ip', address)
        throw error
      })
    },
  })

  host.route({
    ...endpoints.finishRecovery,
    async handler(request, reply) {
      const finish = { ...request.body, client: flowClientOf(request, config.baseUrl) }
      const recovered = await finishRecovery(services, finish, {
        browser: clientBrowser(request, config.baseUrl),
        language: negotiateLanguage(request),
      })
      setSessionCookies(reply, recovered, config.baseUrl)
      return toSignedIn({ ...recovered, ...(await readAccount(kernel.db, recovered, kernel.clock())) })
    },
  })
}

function toSignedIn({ token, expiresAt, userId, identities, keyWraps }: SignedIn) {
  return { sessionToken: token, expiresAt: expiresAt.toISOString(), user: { userId }, identities, keyWraps }
}

function sessionRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...sessionEndpoints.getSession,
    onRequest: session.onRequest,
    handler: (request) => toCurrentSession(kernel, session.of(request)),
  })

  host.route({
    ...sessionEndpoints.findSession,
    async handler(request) {
      const found = await findRequestSession(kernel, request)
      return { session: found ? await toCurrentSession(kernel, found) : null }
    },
  })

  host.route({
    ...sessionEndpoints.createBusinessToken,
    onRequest: session.onRequest,
    async handler(request, reply) {
      return reply.status(201).send(await createBusinessToken(kernel, session.of(request), request, clock()))
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

/** Describes a session to its browser. */
async function toCurrentSession(
  { db, clock }: ServerContext,
  session: Session | RecoveredSession,
): Promise<CurrentSession> {
  const { userId, authTime, authMethod, expiresAt } = session
  const codeSince = authMethod === 'passkey' ? await recoveryCodeCreatedAt(db, userId) : undefined
  return {
    user: { userId: shownUserId(session) },
    identities: await listIdentitiesOfSession(db, session, clock()),
    authTime: authTime.toISOString(),
    secondsSinceAuthTime: Math.max(0, toNumericDate(clock()) - toNumericDate(authTime)),
    authMethod,
    expiresAt: expiresAt.toISOString(),
    ...(codeSince !== undefined && { recoveryCode: { confirmedAt: codeSince?.toISOString() ?? null } }),
    ...(session.authMethod === 'recovered_passkey' && { holdUntil: session.holdUntil.toISOString() }),
  }
}

function reauthenticationRoutes(host: Host, services: PasskeyServices): void {
  const { kernel } = services
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
      const authTime = await finishReauthentication(services, session.of(request), finish)
      return { authTime: authTime.toISOString() }
    },
  })
}

function ownPasskeyRoutes(host: Host, { kernel, sessions }: PasskeyServices): void {
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
    ...endpoints.startAddPasskey,
    onRequest: session.onRequest,
    handler(request, reply) {
      const browserSha256 = bindToBrowser(request, reply, config.baseUrl)
      return startAddPasskey(kernel, session.of(request), { browserSha256 })
    },
  })

  host.route({
    ...endpoints.finishAddPasskey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const browser = { userAgent: request.headers['user-agent'], language: negotiateLanguage(request) }
      const finish = { ...request.body, client: flowClientOf(request, config.baseUrl), browser }
      return reply.status(201).send(await finishAddPasskey(kernel, session.of(request), finish))
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
      requireRecentAuthentication(acting, now)
      const { goesOn } = await removePasskey({ db, sessions }, { session: acting, ...request.params }, now)
      if (!goesOn) forgetBrowser(reply, config.baseUrl)
      return reply.status(204).send(null)
    },
  })
}
