import AjvCompiler from '@fastify/ajv-compiler'
import SerializerSelector from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'
import { normalizeMembers, normalizeParams } from './normalize.ts'

type Validate = ReturnType<FastifySchemaCompiler<object>>

/**
 * Has the schemas of an endpoint compiled when it is first asked, by Fastify's own compilers. At the start all of them
 * would take half as long again, for what many a process never answers.
 */
export function compileWhenAsked(app: FastifyInstance): void {
  const customOptions = { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } as const
  const compileValidator = AjvCompiler()({}, { customOptions })
  const compileSerializer = SerializerSelector()()
  app.setValidatorCompiler<object>((route) => {
    const { httpPart, schema } = route
    // A path is found by ids alone; what can't be one is looked up in vain, and nothing is invalid.
    if (httpPart === 'params') return (params: unknown) => normalizeParams(params, schema) === undefined
    const compiled = once(() => compileValidator(route))
    const validate: Validate = (value) => {
      normalizeMembers(value, schema, nullClears(route))
      const valid = compiled()(value) === true
      validate.errors = compiled().errors ?? null
      return valid
    }
    return validate
  })
  app.setSerializerCompiler(({ httpStatus = '', ...route }) => {
    const compiled = once(() => compileSerializer({ httpStatus, ...route }))
    return (answer) => compiled()(answer)
  })
}

/** Where what is sent changes what there is, a value that is null is taken away. */
function nullClears({ method, url }: Parameters<FastifySchemaCompiler<object>>[0]): boolean {
  return method === 'PATCH' || url.endsWith('/apply') || url.startsWith('/scim/')
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}
