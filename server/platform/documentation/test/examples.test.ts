import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ClientId } from '@countersign/protocol/ids'
import { endpoints } from '#platform/process/openapi.ts'
import { appOf, createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** Operations that apps and their developers call: with client credentials, an access token, or for their own apps. */
const forApps = endpoints.filter(({ endpoint: { url, schema, config } }) => {
  const isCalled = url.startsWith('/api/developer/') || !['none', 'session', 'admin'].includes(config.security)
  return isCalled && config.security !== 'fedcm session' && schema.body !== undefined
})

/** The commands that the API reference shows for an operation. */
async function commandsOf({ tag, operationId }: (typeof forApps)[number]): Promise<string[]> {
  const url = `/docs/${tag.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`.replace(/-$/, '')
  const { body } = await world.api.inject({ url })
  const section = body.split('<section class="operation"').find((each) => each.startsWith(` id="${operationId}"`))
  const requests = [...(section ?? '').matchAll(/Example: request.*?<code>(.*?)<\/code>/gs)]
  return requests.map(([, command = '']) => unescapeHtml(command))
}

function unescapeHtml(html: string): string {
  const letters: Record<string, string> = { '&quot;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>', '&amp;': '&' }
  return html.replaceAll(/&(?:quot|#39|lt|gt|amp);/g, (found) => letters[found] ?? found)
}

/** Sends what a command sends. */
function send(command: string) {
  const [, method = 'GET'] = /-X (\w+)/.exec(command) ?? []
  const [, address = ''] = /'(http[^']+)'/.exec(command) ?? []
  const headers = [...command.matchAll(/-H '([\w-]+): ([^']+)'/g)].map(([, name = '', value]) => [name, value])
  const [, credentials] = /-u "([^"]+)"/.exec(command) ?? []
  const basic = credentials && { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
  const [, payload = ''] = /-d '(.*)'$/s.exec(command) ?? []
  const { pathname: url } = new URL(address)
  return world.api.inject({
    method: method as 'POST',
    url,
    headers: { ...Object.fromEntries(headers), ...basic },
    payload,
  })
}

test('every example of a request that an app or its developer sends is valid with real values', async () => {
  const ada = await world.person('ada')
  const created = await world.api.inject({
    method: 'POST',
    url: '/api/developer/apps',
    headers: ada.headers,
    payload: { name: 'Paper Shop', redirectUris: ['https://app.example/callback'] },
  })
  const { clientId, clientSecret } = created.json<{ clientId: ClientId; clientSecret: string }>()
  const app = appOf(world.api, { clientId, clientSecret, redirectUri: 'https://app.example/callback' })
  const { access_token_jwt } = await app.tokens(ada)
  const real: [string, string][] = [
    ['app_85f93669162989cc207c0996290ce3ce', clientId],
    ['{clientId}', clientId],
    ['$CLIENT_ID', clientId],
    ['YOUR_CLIENT_SECRET', clientSecret],
    ['$CLIENT_SECRET', clientSecret],
    ['3f1c9a2b-7d54-4e0a-9b1f-0c2d6e8a4b13', ada.identityId],
    ['cs_session_…', ada.sessionToken],
    ['{resourceKey}', 'events'],
    ['<access_token_jwt>', access_token_jwt],
    ['<access token>', access_token_jwt],
  ]
  const refused: string[] = []
  for (const listed of forApps) {
    const commands = await commandsOf(listed)
    assert.notEqual(commands.length, 0, listed.operationId)
    for (const command of commands) {
      const filled = real.reduce((text, [shown, value]) => text.replaceAll(shown, value), command)
      const { error } = (await send(filled)).json()
      if (error !== undefined) refused.push(`${listed.operationId}: ${error}`)
    }
  }
  // The app has no such code, token, resource or webhook, and the user has no key.
  assert.deepEqual(refused, [
    'requestToken: invalid_grant',
    'requestToken: invalid_grant',
    'requestToken: invalid_target',
    'fedcmExchange: invalid_grant',
    'createSigningRequest: no_signing_key',
    'rotateOwnWebhookSecret: webhook_not_found',
  ])
})

test('the reference shows a token request of each grant, and who sends credentials in the body', async () => {
  const ofToken = forApps.filter(({ operationId }) => operationId === 'requestToken')
  const commands = (await Promise.all(ofToken.map(commandsOf))).flat()
  const grants = commands.map((command) => /"grant_type": "([^"]+)"/.exec(command)?.[1])
  assert.deepEqual(grants, ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:token-exchange'])
  const { body } = await world.api.inject({ url: '/docs/signing' })
  const [, signing = ''] = body.split('id="createSigningRequest"')
  const [, caller] = /<dt>Caller<\/dt><dd>(.*?)<\/dd>/.exec(signing) ?? []
  assert.equal(caller, 'An app with its <a href="/docs#client">client credentials</a> in the body')
})

test('the reference says how a program gets a session token', async () => {
  const { body } = await world.api.inject({ url: '/docs' })
  const [, session] = /<div id="session">(.*?)<\/div>/.exec(body) ?? []
  assert.match(session ?? '', /Session token .*POST \/api\/auth\/login\/finish/)
})
