import { randomBytes } from 'node:crypto'
import { codeIn } from '../../../server/testing/mailbox.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStageWithProcess, type TestEnvironment } from '../../fixtures/environment.ts'
import { steppable } from './adjustable-clock.ts'
import { openProvider, redemption, type Client } from './provider.ts'
import { openRelyingParty, type Parameters } from './relying-party.ts'
import {
  checkIdToken,
  checkAuthorizationResponse,
  checkTokenResponse,
  checkUserinfo,
  type Landing,
  type ResponseMode,
} from '../responses.ts'

export type ConformanceEnv = Awaited<ReturnType<typeof openConformanceEnv>>

/** How a module's flow differs from the default. A parameter that is undefined is not sent. */
export type RequestChoices = {
  parameters?: Record<string, string | undefined>
  /** The parameters of a request object; the response must use them. */
  inside?: Parameters
  client?: Client
  by?: 'basic' | 'post'
  method?: 'GET' | 'POST'
  /** The buttons that the user clicks on the way, in order. */
  presses?: string[]
  browsing?: Person
}

/** Granted before the first module, so that a flow shows only the pages that the module requires. */
const everyScope = 'openid profile email offline_access'

/**
 * The environment of the modules: the provider as a process, two clients, and a user who is signed in in a browser, has
 * a verified address, and has consented to the first client.
 */
export async function openConformanceEnv(mode: ResponseMode) {
  const stage = await openStageWithProcess(steppable)
  const [provider, site, person] = await Promise.all([openProvider(stage.service), openRelyingParty(), stage.invite()])
  const [client, other] = await Promise.all([provider.register([site.callback]), provider.register([site.callback])])
  person.offerPasskeys(false)
  await register(stage.service.authUrl, person)
  await proveAddress(person, stage.mailbox)

  /** The parameters of an authorization request, with a new state and nonce. */
  function request({ parameters = {}, client: as = client }: RequestChoices = {}): Parameters {
    const usual = {
      response_type: 'code',
      client_id: as.clientId,
      redirect_uri: as.redirectUri,
      scope: 'openid',
      state: randomBytes(10).toString('base64url'),
      nonce: randomBytes(10).toString('base64url'),
      ...(mode === 'form_post' && { response_mode: mode }),
    }
    const requested = Object.entries({ ...usual, ...parameters })
    return Object.fromEntries(requested.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  }

  /** Sends a request through the browser, until its response arrives. */
  async function visit(
    parameters: Parameters,
    { method = 'GET', presses = [], browsing = person }: RequestChoices = {},
  ) {
    const arrival = site.arrival()
    const { authorization_endpoint: endpoint } = provider.metadata
    await browsing.page.goto(site.begin({ endpoint, parameters, method }))
    for (const press of presses) await browsing.press(press)
    const arrived = await arrival
    await browsing.page.waitForURL((url) => url.href.startsWith(site.callback))
    const landing: Landing = { ...arrived, fragment: new URL(browsing.page.url()).hash }
    return landing
  }

  /** Returns the response to a request after the general checks. */
  async function answer(manner: RequestChoices = {}) {
    const parameters = request(manner)
    const { state = '' } = manner.inside ?? parameters
    const landing = await visit(parameters, manner)
    return { parameters, landing, answer: checkAuthorizationResponse(landing, mode, { state, iss: provider.issuer }) }
  }

  /** Performs a complete sign-in and checks all of it: the callback, the tokens, the ID token, userinfo. */
  async function flow(manner: RequestChoices = {}) {
    const { client: as = client, by = 'basic' } = manner
    const { parameters, landing, answer: answered } = await answer(manner)
    const code = answered.get('code') ?? ''
    if (code === '') throw new Error(`no code: ${answered}`)
    const tokens = await checkTokenResponse(await provider.token(as, redemption(as, code), by))
    const claims = await checkIdToken(provider, tokens, { client: as, nonce: parameters['nonce'] })
    const userinfo = await checkUserinfo(await provider.userinfo(tokens.access_token), claims.sub)
    return { landing, answer: answered, code, tokens, claims, userinfo }
  }

  await answer({ parameters: { scope: everyScope }, presses: ['approve'] })
  return {
    mode,
    provider,
    site,
    person,
    client,
    other,
    request,
    answer,
    flow,
    invite: stage.invite,
    async close() {
      await site.close()
      await stage.close()
    },
  }
}

async function register(authUrl: string, person: Person): Promise<void> {
  await person.page.goto(`${authUrl}/register`)
  await person.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await person.press('confirm-recovery-saved')
  await person.page.waitForURL(/\/account/)
}

async function proveAddress(person: Person, mailbox: TestEnvironment['mailbox']): Promise<void> {
  await person.page.goto(new URL('/account/identities', person.page.url()).href)
  await person.press('email-of-identity')
  await person.write('email', 'ada@example.com')
  await person.press('send-code')
  await person.write('code', codeIn(await mailbox.take()))
  await person.press('verify-email')
  await person.page.getByText('ada@example.com').waitFor()
}
