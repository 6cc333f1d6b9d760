/**
 * The product as a malicious operator runs it: the same code with the same settings. Around it, this program reads and
 * changes rows, answers and requests, when the test sends it a lie.
 */
import '../../server/egress-guard.ts'
import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { loadConfig } from '../../server/platform/config/config.ts'
import { loadStoredSecret } from '../../server/platform/config/data-directory.ts'
import { createKeyring } from '../../server/platform/crypto/keyring.ts'
import { noteOpenedDatabase } from '../../server/testing/opened-database.ts'
import type { Lie, Means, Rewrite, Rewrites } from './lie.ts'
import { lies } from './lies/lies.ts'

const openedDatabase = noteOpenedDatabase()
const hosts: FastifyInstance[] = []
let answers: Rewrites = {}
let requests: Rewrites = {}

subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  hosts.push(fastify)
  fastify.addHook('preValidation', async (request) => {
    const rewrite = rewriteOf(requests, request)
    if (rewrite) request.body = JSON.parse(await rewrite(JSON.stringify(request.body), parametersOf(request)))
  })
  fastify.addHook('onSend', async (request, reply, payload) => {
    const rewrite = rewriteOf(answers, request)
    if (!rewrite || reply.statusCode >= 300) return payload
    return rewrite(String(payload), parametersOf(request))
  })
})

function rewriteOf(rewrites: Rewrites, { method, routeOptions }: FastifyRequest): Rewrite | undefined {
  return rewrites[`${method} ${routeOptions.url}`]
}

function parametersOf({ params }: FastifyRequest): Record<string, string> {
  return Object.fromEntries(Object.entries(Object(params)).map(([name, value]) => [name, String(value)]))
}

async function administer(method: 'PATCH' | 'POST', url: string, body: object): Promise<void> {
  const { host } = loadConfig(process.env).baseUrl
  const headers = { host, authorization: `Bearer ${process.env['ADMIN_TOKEN']}` }
  const answer = await hosts[0]?.inject({ method, url, headers, payload: body })
  if (answer?.statusCode !== 200) throw new Error(`${url} answered ${answer?.body}`)
}

type Telling = { name: keyof typeof lies; facts: never }

process.on('message', (telling: Telling) => {
  lie(telling).then(
    () => process.send?.({}),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})

async function lie({ name, facts }: Telling): Promise<void> {
  const { rows, ...rewriting }: Lie<never> = lies[name]
  const { secretKeys, dataDirectory } = loadConfig(process.env)
  const keyring = createKeyring(secretKeys ?? [await loadStoredSecret(dataDirectory, 'secret-key')])
  const means = (): Means => ({ db: openedDatabase(), keyring, now: new Date(), administer })
  await rows?.(means(), facts)
  answers = { ...answers, ...rewriting.answers?.(facts, means) }
  requests = { ...requests, ...rewriting.requests?.(facts) }
}

await import('../../server/main.ts')
