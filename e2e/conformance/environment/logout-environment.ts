import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { startWebhookReceiver } from '../../../server/testing/webhook-receiver.ts'
import { openConformanceEnv } from './environment.ts'
import type { Parameters } from './relying-party.ts'

export type LogoutEnv = Awaited<ReturnType<typeof openLogoutEnv>>

/** The environment of the logout modules: a client with a registered post-logout redirect URI. */
export async function openLogoutEnv() {
  const env = await openConformanceEnv('query')
  const { provider, site, person } = env
  const { page } = person
  const signedOut = `${site.callback}/signed-out`
  const backChannel = await startWebhookReceiver([200])
  const client = await provider.register([site.callback], {
    postLogoutRedirectUris: [signedOut],
    backchannelLogoutUri: backChannel.url,
    backchannelLogoutSessionRequired: true,
  })
  await env.flow({ client, presses: ['approve'] })

  /** Returns a logout request of a client to which a user has just signed in. */
  async function request(): Promise<Parameters> {
    const { tokens } = await env.flow({ client, parameters: { prompt: 'login' }, presses: ['sign-in'] })
    return {
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: signedOut,
      state: randomBytes(10).toString('base64url'),
    }
  }

  const begin = (parameters: Parameters, method: 'GET' | 'POST') =>
    page.goto(site.begin({ endpoint: provider.metadata.end_session_endpoint, parameters, method }))

  return {
    provider,
    client,
    /** An unregistered address on the client's own site. */
    elsewhere: `${site.callback}/other`,
    request,
    /**
     * Sends a request through the browser back to the client without a question; returns the parameters that arrived.
     */
    async signOutToApp(parameters: Parameters, method: 'GET' | 'POST' = 'GET'): Promise<URLSearchParams> {
      const [clicks, arrival] = [person.clicks(), site.arrival()]
      await begin(parameters, method)
      const arrived = await arrival
      await page.waitForURL((url) => url.href.startsWith(signedOut))
      assert.deepEqual([arrived.method, person.clicks()], ['GET', clicks])
      return arrived.query
    },
    /** Sends a request until the page where it ends; the user confirms the sign-out if asked. */
    async signOutHere(parameters: Parameters): Promise<void> {
      let arrivals = 0
      void site.arrival().then(() => (arrivals += 1))
      await begin(parameters, 'GET')
      const done = page.locator('a[href="/"].button')
      await person.control('sign-out').or(done).waitFor()
      if (await person.control('sign-out').isVisible()) await person.press('sign-out')
      await done.waitFor()
      assert.equal(new URL(page.url()).origin, provider.issuer)
      assert.equal(arrivals, 0)
    },
    /** Checks that the user is signed out: prompt=none returns the respective error. */
    async checkSignedOut(): Promise<void> {
      const { answer } = await env.answer({ client, parameters: { prompt: 'none' } })
      assert.equal(answer.get('error'), 'login_required')
    },
    /** What the client receives directly from the provider. */
    backChannel,
    async close() {
      await env.close()
      await backChannel.close()
    },
  }
}
