import type { AnyEndpoint } from '@countersign/protocol/endpoint'
import type { Language } from '@countersign/protocol/formats/registries/languages'
import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { Check } from 'typebox/schema'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { type MemberContext, memberContextOf } from '#organizations/membership/access.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { negotiateLanguage } from '#platform/outbound/mail.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { ActingAs, ByOrganizationId } from '@countersign/protocol/organizations/organizations'
import { UnsignedAct, startAct } from './act.ts'
import { readContent } from './request-content.ts'

/** Where a request comes from: a part of its address, and the language of the browser. */
export type Caller = { address: string; language: Language }

/** Request to do something in an organization: sent to its endpoint, or stored with an act. */
export type UncheckedCall = { asking: MemberContext; params: unknown; body: unknown; caller: Caller }

/** The same with the types of an endpoint. */
type Call<E> = Pick<UncheckedCall, 'asking' | 'caller'> & RequestTypes<E>
type RequestTypes<E> = { params: PartType<E, 'params'>; body: PartType<E, 'body'> }
type PartType<E, Part extends string> = E extends { schema: Record<Part, infer S extends TSchema> } ? Static<S> : never
type AnswerType<E> = E extends { schema: { response: infer R } }
  ? R[keyof R] extends TSchema
    ? Static<R[keyof R]>
    : never
  : never

/** Endpoint whose requests members may have to sign, and what it does. */
export type Signable<Services, E extends AnyEndpoint = AnyEndpoint> = {
  endpoint: E
  options: { bodyLimit?: number }
  perform: (services: Services, call: UncheckedCall, now: Date) => Promise<unknown>
}

/**
 * Defines what an endpoint does that takes `signedAction`. The same function carries out its requests and the acts that
 * these have started.
 */
export function signable<Services, const E extends AnyEndpoint>(
  endpoint: E,
  perform: (services: Services, call: Call<E>, now: Date) => Promise<AnswerType<E>>,
  options: Signable<Services>['options'] = {},
): Signable<Services, E> {
  return {
    endpoint,
    options,
    perform(services, { asking, caller, ...request }, now) {
      if (!isRequestOf(endpoint, request)) throw new Error(`a request to ${endpoint.name} has another form`)
      return perform(services, { asking, caller, ...request }, now)
    },
  }
}

/** Requests have been validated before: this restores their types. A stored one can be of another version. */
export function isRequestOf<E extends AnyEndpoint>(
  { schema }: E,
  request: { params: unknown; body: unknown },
): request is RequestTypes<E> {
  return isOf(schema.params, request.params) && isOf(schema.body, request.body)
}

function isOf(schema: TSchema | undefined, value: unknown): boolean {
  return schema === undefined || Check(schema, value)
}

/** Registers the routes of signable endpoints. */
export function signableRoutes<Services extends { kernel: ServerContext }>(
  host: Host,
  services: Services,
  listed: readonly Signable<Services>[],
): void {
  const session = sessionGuard(services.kernel)
  for (const each of listed)
    host.route({
      ...each.endpoint,
      ...each.options,
      onRequest: session.onRequest,
      async handler(request, reply) {
        const { params, query, body } = request
        if (!Check(ByOrganizationId, params) || !Check(ActingAs, query))
          throw new Error(`${each.endpoint.name} is not a request of a member`)
        const asking = memberContextOf({ params, query, body, routeOptions: request.routeOptions }, session.of(request))
        const call = { asking, params, body: body ?? null, caller: callerOf(request) }
        const answer = await performOrStart(services, each, call, services.kernel.clock())
        return reply.status(successOf(each.endpoint).status).send(answer ?? null)
      },
    })
}

/** Carries out a request, or starts the act that it needs: then it changes nothing and throws what to sign. */
async function performOrStart<Services extends { kernel: ServerContext }>(
  services: Services,
  { endpoint, perform }: Signable<Services>,
  call: UncheckedCall,
  now: Date,
): Promise<unknown> {
  try {
    return await perform(services, call, now)
  } catch (error) {
    if (!(error instanceof UnsignedAct)) throw error
    const content = readContent(endpoint.schema, call)
    throw await startAct(services.kernel, call.asking.session, { endpoint, content, unsigned: error.unsigned }, now)
  }
}

export function callerOf(request: FastifyRequest): Caller {
  return { address: clientAddressKey(request), language: negotiateLanguage(request) }
}

/** Returns the status and schema of a success. An endpoint has one. */
export function successOf({ name, schema: { response } }: AnyEndpoint): {
  status: number
  schema: Record<string, unknown>
} {
  const [status, schema] = Object.entries(response).find(([each]) => each.startsWith('2')) ?? []
  if (!isRecord(schema)) throw new Error(`${name} has no success`)
  return { status: Number(status), schema }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
