import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { grants, isGrantType, type GrantType } from '#oauth/token/grants/grants.ts'
import { createConnectors } from '#testing/connectors.ts'
import { createWorld, postToken, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Redemption = {
  app: TestApp
  /** A complete request, without the grant type and the client credentials. */
  fields: Record<string, string>
}
type Example = {
  start: () => Promise<Redemption>
  required: string[]
  /** The error for an app with a secret that did not send it. */
  unauthenticated: string
}

/** An example of each grant. A new grant does not compile without one. */
const examples: Record<GrantType, Example> = {
  authorization_code: {
    start: async () => {
      const app = await world.app()
      return { app, fields: { code: await app.code(await world.person()), redirect_uri: app.redirectUri } }
    },
    required: ['code', 'redirect_uri'],
    unauthenticated: 'invalid_client',
  },
  refresh_token: {
    start: async () => {
      const app = await world.app()
      return { app, fields: { refresh_token: (await app.tokens(await world.person())).refresh_token } }
    },
    required: ['refresh_token'],
    unauthenticated: 'invalid_client',
  },
  'urn:ietf:params:oauth:grant-type:token-exchange': {
    start: async () => {
      const { source, resourceKey, connected } = await createConnectors(world)
      const { subjectToken } = await connected()
      return { app: source, fields: { subject_token: subjectToken, resource: resourceKey } }
    },
    required: ['subject_token', 'resource'],
    unauthenticated: 'invalid_client',
  },
}

test('each grant of the provider metadata issues a token to its authenticated client', async () => {
  const metadata = (await world.auth.inject({ url: '/.well-known/openid-configuration' })).json()
  assert.deepEqual(metadata.grant_types_supported, Object.keys(examples))
  for (const grantType of metadata.grant_types_supported) {
    assert.ok(isGrantType(grantType))
    const { start, required, unauthenticated } = examples[grantType]
    const { app, fields } = await start()
    const send = (sent: Record<string, string>, credentials: Record<string, string> = app.credentials) =>
      postToken(world.api, { grant_type: grantType, ...sent, ...credentials })
    for (const name of required) {
      const refused = (await send({ ...fields, [name]: '' })).json()
      assert.deepEqual([refused.error, refused.error_description], ['invalid_request', `${name} is missing.`])
    }
    assert.equal((await send(fields, { client_id: app.clientId })).json().error, unauthenticated, grantType)
    const issued = await send(fields)
    assert.equal(issued.statusCode, 200, `${grantType}: ${issued.body}`)
    assert.equal(issued.json().token_type, 'Bearer')
  }
})

test('the error for another grant type lists all grants', async () => {
  const { credentials } = await world.app()
  const { error, error_description: sentence } = (
    await postToken(world.api, { grant_type: 'toString', ...credentials })
  ).json()
  assert.equal(error, 'unsupported_grant_type')
  assert.equal(sentence, `Supported grant types: ${Object.keys(grants).join(', ')}.`)
})
