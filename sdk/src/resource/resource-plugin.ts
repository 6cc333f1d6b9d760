import { Challenge } from './challenge.ts'
import { json, metadataHeaders, type Guard, type Wanted } from './resource-middleware.ts'
import type { ResourceMetadata } from './metadata.ts'

/** What is needed of Fastify, which the SDK so need not bring. */
type Request = { headers: { authorization?: string | undefined } }
type Reply = {
  code: (status: number) => Reply
  headers: (headers: Record<string, string>) => Reply
  send: (body: unknown) => unknown
}
type Handler = (request: Request, reply: Reply) => Promise<unknown>
type Scope = {
  prefix: string
  hasRequestDecorator: (name: string) => boolean
  decorateRequest: (name: string, value: null) => unknown
  addHook: (name: 'onRequest', hook: Handler) => unknown
  get: (path: string, handler: Handler) => unknown
}

export type ResourcePlugin<Options extends object> = (scope: Scope, options: Options) => Promise<void>

/** Lets those through who bring a token, with `request.delegated`, in the scope in which it is registered. */
export function guardingPlugin(guard: Guard): ResourcePlugin<Wanted> {
  return inOwnScope(async (scope, wanted) => {
    if (!scope.hasRequestDecorator('delegated')) scope.decorateRequest('delegated', null)
    scope.addHook('onRequest', async (request, reply) => {
      try {
        Object.assign(request, { delegated: await guard(request.headers.authorization, wanted) })
      } catch (error) {
        if (!(error instanceof Challenge)) throw error
        return reply
          .code(error.status)
          .headers({ ...json, ...error.headers })
          .send(error.body)
      }
    })
  })
}

/** Answers what the resource says about itself. */
export function metadataPlugin({ path, document }: ResourceMetadata): ResourcePlugin<object> {
  return async (scope) => {
    if (scope.prefix !== '') throw new TypeError('What a resource says about itself stands at the root of its host')
    scope.get(path, async (_, reply) => reply.headers(metadataHeaders).send(document))
  }
}

/** Without this mark Fastify would give the plugin a scope of its own, in which there is nothing to guard. */
function inOwnScope<Plugin extends object>(plugin: Plugin): Plugin {
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
