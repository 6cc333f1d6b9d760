import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AnyEndpoint } from '@countersign/protocol/endpoint'
import type { InjectOptions } from 'fastify'
import { createAuthenticator } from '#testing/authenticator.ts'
import { openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { makeEveryRequest } from '#testing/every-request.ts'
import { replaceQueries, textOf } from '#testing/interruption.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { place } from '#testing/request-client.ts'
import { besideRequest } from '#testing/recorded-statements.ts'
import { endpoints } from '#platform/process/openapi.ts'

/** Endpoints that change nothing by the session in a transaction, each with the reason. */
const elsewhere: Record<string, string> = {
  'POST /api/auth/passkeys/start': 'It starts a ceremony, which only the session can finish.',
  'POST /api/auth/passkeys/finish': 'The ceremony is consumed first, so that it is tried once: see below.',
  'POST /api/auth/reauthenticate/start': 'It starts a ceremony, which only the session can finish.',
  'POST /api/auth/reauthenticate/finish': 'The ceremony is consumed first, so that it is tried once: see below.',
  'POST /api/auth/session/business': 'Its token is valid no longer than the session.',
  'POST /api/auth/session/end': 'It ends the session.',
  'DELETE /api/auth/session': 'It ends the session.',
}

/** Times at which sessions end: at the start of a transaction, or after all other statements. */
const ends = {
  'just before': (text: string) => text === 'begin',
  'while that is done': (text: string) => /"session".* for no key update$/.test(text),
}
type When = keyof typeof ends
const whens: When[] = ['just before', 'while that is done']

/** When the session of the current request ends, and whether it has. Requests run one after another. */
let trial: { when: When; hasEnded: boolean } | undefined

/** Ends all sessions in each transaction of a trial. An error rolls that back, and nothing has changed. */
const endInTransactions = replaceQueries((query, args) => {
  if (!trial || !ends[trial.when](textOf(args[0]))) return query(...args)
  trial.hasEnded = true
  // Both are sent before anything that follows.
  const end = () => besideRequest(() => query('delete from session'))
  if (trial.when === 'just before') return Promise.all([query(...args), end()]).then(([begun]) => begun)
  return Promise.all([end(), query(...args)]).then(([, locked]) => locked)
})

type Authenticator = ReturnType<typeof createAuthenticator>

const mailing = 'POST /api/identities/:identityId/email'

/** Endpoints that change data by a session. */
const acting = endpoints
  .map(({ endpoint }) => endpoint)
  .filter(({ method, config: { security } }) => method !== 'GET' && security.endsWith('session'))

let mailbox: Mailbox
let enterprise: Enterprise
/** Answers of each endpoint, per trial. */
const answers = new Map<string, string[]>()
before(async () => {
  mailbox = await openMailbox()
  const environment = { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>', DEVELOPER_PORTAL: 'on' }
  enterprise = await openEnterprise({ between: endInTransactions, environment })
  const { api, business } = enterprise.world
  for (const host of [api, business]) tryBefore(host)
  await makeEveryRequest(enterprise, mailbox)
})
after(async () => {
  await enterprise.close()
  await mailbox.close()
})

/** Sends each request that acts by a session several times: first with a session that ends in the meantime. */
function tryBefore(host: Enterprise['world']['api']): void {
  const inject = host.inject.bind(host)
  Object.assign(host, {
    async inject(requested: InjectOptions) {
      const endpoint = acting.find((each) => isFor(each, requested))
      if (endpoint && !Object.hasOwn(elsewhere, endpoint.name)) {
        for (const when of whens) {
          const tried = { when, hasEnded: false }
          trial = tried
          const { statusCode, body } = await inject(copyOf(requested)).finally(() => (trial = undefined))
          // The mail is sent first, with a code that no test uses.
          if (endpoint.name === mailing) await mailbox.take()
          const answer = `${tried.hasEnded ? '' : 'no session locked '}${statusCode} ${statusCode === 401 ? '' : body}`
          const name = `${endpoint.name} ${when}`
          answers.set(name, [...(answers.get(name) ?? []), answer.trim()])
        }
      }
      return inject(requested)
    },
  })
}

/** Copies a request, because sending it changes it. A copied picture would not be a `Buffer`. */
function copyOf(requested: InjectOptions): InjectOptions {
  return Buffer.isBuffer(requested.payload) ? { ...requested } : structuredClone(requested)
}

function isFor({ method, url }: AnyEndpoint, requested: InjectOptions): boolean {
  if ((requested.method ?? 'GET') !== method) return false
  const path = typeof requested.url === 'string' ? (requested.url.split('?')[0] ?? '') : ''
  const pattern = url.split('/')
  const parts = path.split('/')
  return parts.length === pattern.length && pattern.every((part, nth) => part.startsWith(':') || part === parts[nth])
}

test('SES-16 a change by a session is not made if the session ends just before or meanwhile', () => {
  const done = [...answers].flatMap(([name, given]) =>
    given.filter((each) => each !== '401').map((each) => `${name}: ${each}`),
  )
  assert.deepEqual(done, [])
})

test('SES-16 every endpoint that acts by a session is tried, or states why not', () => {
  const isTried = (name: string) => whens.every((when) => answers.get(`${name} ${when}`)?.includes('401'))
  const untried = acting.map(({ name }) => name).filter((name) => !isTried(name))
  assert.deepEqual(untried.toSorted(), Object.keys(elsewhere).toSorted())
})

test('SES-16 a ceremony adds no passkey and proves nothing if the session ends just before', async () => {
  const { world } = enterprise
  const person = await world.person()
  const headers = await person.signIn()
  const post = (url: string, payload: object = {}) => world.api.inject({ method: 'POST', url, headers, payload })
  const inEnding = async (url: string, payload: object) => {
    const tried = { when: 'just before' as const, hasEnded: false }
    trial = tried
    const { statusCode } = await post(url, payload).finally(() => (trial = undefined))
    return [tried.hasEnded, statusCode]
  }
  const ceremonies = {
    '/api/auth/passkeys': (options: Parameters<Authenticator['register']>[0]) =>
      createAuthenticator(place).register(options),
    '/api/auth/reauthenticate': (options: { challenge: string }) => person.authenticator.authenticate(options),
  }
  const read = async () => {
    const { passkeys } = (await world.api.inject({ url: '/api/auth/passkeys', headers })).json()
    const { authTime } = (await world.api.inject({ url: '/api/auth/session', headers })).json()
    return { passkeys: passkeys.length, authTime }
  }
  const before = await read()
  world.pass(60)
  for (const [url, use] of Object.entries(ceremonies)) {
    const { flowId, options } = (await post(`${url}/start`)).json()
    assert.deepEqual(await inEnding(`${url}/finish`, { flowId, credential: use(options) }), [true, 401], url)
  }
  assert.deepEqual(await read(), before)
})
