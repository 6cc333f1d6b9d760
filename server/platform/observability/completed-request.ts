import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CompletedRequest } from './telemetry.ts'

/** Describes a request with its answer, without content. `refusal` is the code of its error. */
export function describeAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: string | undefined,
): CompletedRequest {
  return {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'none',
    status: reply.statusCode,
    milliseconds: Math.round(reply.elapsedTime * 10) / 10,
    ...(refusal !== undefined && { refusal }),
  }
}
