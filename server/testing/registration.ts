import { randomBytes } from 'node:crypto'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { createAuthenticator } from './authenticator.ts'
import type { TestWorld } from './world.ts'

/** What permits a registration. */
export type Admission = { setup?: string; invitation?: string; emailProof?: string }

/** What the user enters about the new identity. */
export type Names = { handle?: string; displayName?: string }

/** Starts a registration like the page does. `finish` sends the rest, at the end or in a race. */
export async function startRegistration(world: TestWorld, admission: Admission = {}, names: Names = {}) {
  const { config, api } = world
  const handle = `guest-${randomBytes(6).toString('hex')}`
  const authenticator = createAuthenticator({ origin: config.authUrl.origin, rpId: config.relyingPartyId })
  const payload = { handle, displayName: 'A guest', ...names, ...admission }
  const started = await api.inject({ method: 'POST', url: '/api/auth/register/start', payload })
  return {
    status: started.statusCode,
    error: started.json<{ error?: string }>().error,
    async finish(changed: Admission = admission) {
      const { flowId, options } = started.json()
      const finish = { flowId, credential: authenticator.register(options), ...changed }
      const finished = await api.inject({ method: 'POST', url: '/api/auth/register/finish', payload: finish })
      const { identities, sessionToken, error } = finished.json<{
        identities?: [Identity]
        sessionToken?: string
        error?: string
      }>()
      return { status: finished.statusCode, error, identity: identities?.[0], sessionToken: sessionToken ?? '' }
    },
  }
}

/** Registers an account. Returns the status and the error of the step that was refused, if one was. */
export async function register(world: TestWorld, admission: Admission = {}, names: Names = {}) {
  const started = await startRegistration(world, admission, names)
  return started.status === 200 ? started.finish() : { ...started, identity: undefined, sessionToken: '' }
}
