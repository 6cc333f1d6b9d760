import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { startWebhookReceiver } from '../../../server/testing/webhook-receiver.ts'
import { openGround } from './ground.ts'
import type { Parameters } from './relying-party.ts'

export type Leaving = Awaited<ReturnType<typeof openLeaving>>

/** The ground of the logout modules: a client that has registered where people go who have signed out. */
export async function openLeaving() {
  const ground = await openGround('query')
  const { provider, site, person } = ground
  const { page } = person
  const signedOut = `${site.callback}/signed-out`
  const backChannel = await startWebhookReceiver([200])
  const client = await provider.register([site.callback], {
    postLogoutRedirectUris: [signedOut],
    backchannelLogoutUri: backChannel.url,
    backchannelLogoutSessionRequired: true,
  })
  await ground.flow({ client, presses: ['approve'] })

  /** A logout request of a client to which somebody has just signed in. */
  async function request(): Promise<Parameters> {
    const { tokens } = await ground.flow({ client, parameters: { prompt: 'login' }, presses: ['sign-in'] })
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
    /** An address of the client's own site that it has not registered. */
    elsewhere: `${site.callback}/other`,
    request,
    /** Takes a request through the browser back to the client, where nothing is asked; answers what arrived there. */
    async leaveToApp(parameters: Parameters, method: 'GET' | 'POST' = 'GET'): Promise<URLSearchParams> {
      const [clicks, arrival] = [person.clicks(), site.arrival()]
      await begin(parameters, method)
      const arrived = await arrival
      await page.waitForURL((url) => url.href.startsWith(signedOut))
      assert.deepEqual([arrived.method, person.clicks()], ['GET', clicks])
      return arrived.query
    },
    /** Takes a request to the page where it ends; the person says that they want to sign out if they are asked. */
    async leaveHere(parameters: Parameters): Promise<void> {
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
    /** Nobody is signed in any more: a silent request ends with the error that says so. */
    async judgeSignedOut(): Promise<void> {
      const { answer } = await ground.answer({ client, parameters: { prompt: 'none' } })
      assert.equal(answer.get('error'), 'login_required')
    },
    /** What the client receives from the provider itself. */
    backChannel,
    async close() {
      await ground.close()
      await backChannel.close()
    },
  }
}
