import { randomBytes } from 'node:crypto'
import { codeIn } from '../../../server/testing/mailbox.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStageWithProcess, type Stage } from '../../fixtures/stage.ts'
import { steppable } from './clock-step.ts'
import { openProvider, redemption, type Client } from './provider.ts'
import { openRelyingParty, type Parameters } from './relying-party.ts'
import {
  judgeIdToken,
  judgeLanding,
  judgeTokens,
  judgeUserinfo,
  type Landing,
  type ResponseMode,
} from '../responses.ts'

export type Ground = Awaited<ReturnType<typeof openGround>>

/** How a module's flow differs from the usual one. A parameter that is undefined is not sent. */
export type Manner = {
  parameters?: Record<string, string | undefined>
  /** The parameters of a request object, by which the answer is to come. */
  inside?: Parameters
  client?: Client
  by?: 'basic' | 'post'
  method?: 'GET' | 'POST'
  /** What the person presses on the way, one after another. */
  presses?: string[]
  browsing?: Person
}

/** Everything that was granted before the first module, so that a flow asks only what the module makes it ask. */
const everyScope = 'openid profile email offline_access'

/**
 * What the modules stand on: the provider as a process, two clients, and a person who is signed in in a browser, with
 * a proved address, and has consented to the first client.
 */
export async function openGround(mode: ResponseMode) {
  const stage = await openStageWithProcess(steppable)
  const [provider, site, person] = await Promise.all([openProvider(stage.service), openRelyingParty(), stage.invite()])
  const [client, other] = await Promise.all([provider.register([site.callback]), provider.register([site.callback])])
  person.offerPasskeys(false)
  await register(stage.service.authUrl, person)
  await proveAddress(person, stage.mailbox)

  /** The parameters of an authorization request, with a state and a nonce of their own. */
  function request({ parameters = {}, client: as = client }: Manner = {}): Parameters {
    const usual = {
      response_type: 'code',
      client_id: as.clientId,
      redirect_uri: as.redirectUri,
      scope: 'openid',
      state: randomBytes(10).toString('base64url'),
      nonce: randomBytes(10).toString('base64url'),
      ...(mode === 'form_post' && { response_mode: mode }),
    }
    const wanted = Object.entries({ ...usual, ...parameters })
    return Object.fromEntries(wanted.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  }

  /** Takes a request through the browser, to where its answer arrives. */
  async function visit(parameters: Parameters, { method = 'GET', presses = [], browsing = person }: Manner = {}) {
    const arrival = site.arrival()
    const { authorization_endpoint: endpoint } = provider.metadata
    await browsing.page.goto(site.begin({ endpoint, parameters, method }))
    for (const press of presses) await browsing.press(press)
    const arrived = await arrival
    await browsing.page.waitForURL((url) => url.href.startsWith(site.callback))
    const landing: Landing = { ...arrived, fragment: new URL(browsing.page.url()).hash }
    return landing
  }

  /** The answer to a request, judged as every answer is. */
  async function answer(manner: Manner = {}) {
    const parameters = request(manner)
    const { state = '' } = manner.inside ?? parameters
    const landing = await visit(parameters, manner)
    return { parameters, landing, answer: judgeLanding(landing, mode, { state, iss: provider.issuer }) }
  }

  /** A whole sign-in with everything about it judged: the callback, the tokens, the ID token, userinfo. */
  async function flow(manner: Manner = {}) {
    const { client: as = client, by = 'basic' } = manner
    const { parameters, landing, answer: answered } = await answer(manner)
    const code = answered.get('code') ?? ''
    if (code === '') throw new Error(`no code: ${answered}`)
    const tokens = await judgeTokens(await provider.token(as, redemption(as, code), by))
    const claims = await judgeIdToken(provider, tokens, { client: as, nonce: parameters['nonce'] })
    const userinfo = await judgeUserinfo(await provider.userinfo(tokens.access_token), claims.sub)
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

async function proveAddress(person: Person, mailbox: Stage['mailbox']): Promise<void> {
  await person.press('email-of-identity')
  await person.write('email', 'ada@example.com')
  await person.press('send-code')
  await person.write('code', codeIn(await mailbox.take()))
  await person.press('verify-email')
  await person.page.getByText('ada@example.com').waitFor()
}
