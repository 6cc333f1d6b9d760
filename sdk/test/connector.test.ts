import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  offerResource,
  registerRemoteSource,
  revokeDelegations,
  signOutRemotely,
  type Consent,
} from '../../server/testing/remote-connector.ts'
import { createRemotePerson, registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { serveHere } from '../../server/testing/service-here.ts'
import type { Served } from '../../server/testing/service.ts'
import { Challenge, createResource, type Resource } from '../src/resource/resource.ts'
import { createCountersign, CountersignError, type Countersign } from '../src/server/server.ts'

type Source = Awaited<ReturnType<typeof registerRemoteSource>>

let service: Served
let target: Awaited<ReturnType<typeof registerRemoteApp>>
let calendar: Resource
let audience: string
let source: Source
let assistant: Countersign
before(async () => {
  service = await serveHere()
  target = await registerRemoteApp(service)
  const offered = await offerResource(service, target.clientId, 'calendar')
  audience = offered.audience
  calendar = createResource({ authUrl: service.authUrl, ...offered })
  source = await registerRemoteSource(service)
  assistant = createCountersign(source.settings)
})
after(() => service.close())

/** Creates a user who has signed in to the assistant, and lets it act at the calendar. */
async function connect(consent?: Consent) {
  const person = await createRemotePerson(service)
  const tokens = await source.signIn(person)
  await source.connect(person, 'calendar', consent)
  return { person, tokens, subjectToken: tokens.access_token_jwt }
}

const refused = (code: string) => (error: unknown) => error instanceof CountersignError && error.code === code
const all = 'calendar.read calendar.write'

test('an app with a delegation gets a token for the resource, which names the user and the app', async () => {
  const { person, subjectToken } = await connect({ scope: all })
  const exchanged = await assistant.exchangeForResource({ subjectToken, resource: 'calendar' })
  assert.deepEqual([exchanged.resource, exchanged.audience], ['calendar', audience])
  const delegated = await calendar.verify(exchanged.accessToken, { scope: all })
  assert.partialDeepStrictEqual(delegated, {
    identityId: person.identityId,
    sourceClientId: source.settings.clientId,
    mode: 'user_present',
  })
  assert.deepEqual(delegated.scopes.toSorted(), exchanged.scopes.toSorted())

  const narrow = await assistant.exchangeForResource({ subjectToken, resource: audience, scope: 'calendar.read' })
  await assert.rejects(calendar.verify(narrow.accessToken, { scope: 'calendar.write' }), refused('insufficient_scope'))
})

test('DEL-08, DEL-09, DEL-10 there is no token without a delegation, for more scopes, or for no resource', async () => {
  const person = await createRemotePerson(service)
  const { access_token_jwt: subjectToken } = await source.signIn(person)
  const exchange = (requested: object = {}) =>
    assistant.exchangeForResource({ subjectToken, resource: 'calendar', ...requested })
  await assert.rejects(exchange(), refused('access_denied'))
  await source.connect(person, 'calendar')
  await exchange()
  await assert.rejects(exchange({ scope: all }), refused('invalid_scope'))
  await assert.rejects(exchange({ resource: 'Calendar' }), refused('invalid_target'))
  await assert.rejects(exchange({ subjectToken: 'no.such.token' }), refused('invalid_request'))
})

test('DEL-17 no other signed token of the service is accepted by the resource', async () => {
  const { person, tokens, subjectToken } = await connect()
  await offerResource(service, target.clientId, 'contacts')
  await source.connect(person, 'contacts')
  const contacts = await assistant.exchangeForResource({ subjectToken, resource: 'contacts' })
  const { access_token, access_token_jwt, id_token = '', refresh_token = '' } = tokens
  for (const token of [access_token, access_token_jwt, id_token, refresh_token, contacts.accessToken])
    await assert.rejects(calendar.verify(token), (error) => error instanceof Challenge && error.status === 401)
})

test('DEL-11 a revocation takes effect at once with introspection, and otherwise within ten minutes', async () => {
  const { person, subjectToken } = await connect()
  const { baseUrl, clientId, clientSecret } = target
  const introspect = { baseUrl, clientId, clientSecret, everySeconds: 0 }
  const asking = createResource({ authUrl: service.authUrl, audience, introspect })
  const before = await assistant.exchangeForResource({ subjectToken, resource: 'calendar' })
  await asking.verify(before.accessToken)

  await revokeDelegations(service, person)
  await assert.rejects(asking.verify(before.accessToken), refused('invalid_token'))
  const { expiresAt } = await calendar.verify(before.accessToken)
  assert.ok(new Date(expiresAt).getTime() <= Date.now() + 600_000)
  assistant.forgetToken(before)
  await assert.rejects(assistant.exchangeForResource({ subjectToken, resource: 'calendar' }), refused('access_denied'))

  await source.connect(person, 'calendar')
  const again = await assistant.exchangeForResource({ subjectToken, resource: 'calendar' })
  await asking.verify(again.accessToken)
  await assert.rejects(asking.verify(before.accessToken), refused('invalid_token'))
})

test('a resource that introspects with a wrong secret rejects every request', async () => {
  const { subjectToken } = await connect()
  const { accessToken } = await assistant.exchangeForResource({ subjectToken, resource: 'calendar' })
  const introspect = { baseUrl: service.baseUrl, clientId: target.clientId, clientSecret: 'cs_wrong' }
  const asking = createResource({ authUrl: service.authUrl, audience, introspect })
  await assert.rejects(asking.verify(accessToken), refused('verification_unavailable'))
  await calendar.verify(accessToken)
})

test('DEL-18 an app with background access acts after the user has signed out', async () => {
  const { person, tokens } = await connect({ mode: 'background' })
  await signOutRemotely(service, person)
  await assert.rejects(source.connect(person, 'calendar'), /401/)
  const { access_token_jwt: subjectToken } = await source.refresh(tokens)
  const { accessToken } = await assistant.exchangeForResource({ subjectToken, resource: 'calendar' })
  assert.partialDeepStrictEqual(await calendar.verify(accessToken), {
    identityId: person.identityId,
    mode: 'background',
  })
})

test('the consent page exists', async () => {
  const requested = { resource: 'calendar', scope: all, redirectUri: 'https://app.example/callback', state: 'a-state' }
  for (const resource of ['calendar', audience]) {
    const page = await fetch(assistant.connectUrl({ ...requested, resource, mode: 'background' }), {
      redirect: 'manual',
    })
    assert.equal(page.status, 200)
    assert.match(await page.text(), /calendar\.write/)
  }
  const unknown = await fetch(assistant.connectUrl({ ...requested, resource: 'nothing' }), { redirect: 'manual' })
  const answer = new URL(unknown.headers.get('location') ?? '')
  assert.deepEqual([answer.searchParams.get('error'), answer.searchParams.get('state')], ['invalid_target', 'a-state'])
})
