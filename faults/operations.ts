import { inlineReferences } from '../tools/references.ts'
import type { Service } from '../server/testing/service.ts'
import { exchange } from './load/exchange.ts'

/** As much of JSON Schema and of an OpenAPI operation as requests are made of. */
export type Schema = {
  type?: string | string[]
  enum?: unknown[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  items?: Schema
  minItems?: number
}
export type Host = 'api' | 'auth' | 'business'
export type Operation = {
  method: string
  path: string
  host: Host
  /** The kind of bearer token that a caller needs; undefined where anyone may call. */
  security: string | undefined
  parameters: { name: string; in: string; schema: Schema }[]
  body: Schema | undefined
  /** The content types that the body may have. */
  contentTypes: string[]
}

type Described = {
  servers?: { url: string }[]
  security?: Record<string, unknown>[]
  parameters?: Operation['parameters']
  requestBody?: { content: Record<string, { schema: Schema }> }
}

/** Every operation of the interface, as the service describes it. */
export async function readOperations(service: Service): Promise<Operation[]> {
  const document = (await exchange(`${service.baseUrl}/openapi.json`))?.body
  const paths = inlineReferences(document, document?.['paths']) as Record<string, Record<string, Described>>
  const hosts: Host[] = ['auth', 'business']
  const hostAt = (url: string | undefined) => hosts.find((host) => originOf(service, host) === url) ?? 'api'
  return Object.entries(paths).flatMap(([path, described]) =>
    Object.entries(described).map(([method, { servers, security, parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      host: hostAt(servers?.[0]?.url),
      security: Object.keys(security?.[0] ?? {})[0],
      parameters,
      body: requestBody?.content['application/json']?.schema,
      contentTypes: Object.keys(requestBody?.content ?? {}),
    })),
  )
}

export function originOf({ baseUrl, authUrl, businessUrl }: Service, host: Host): string {
  return { api: baseUrl, auth: authUrl, business: businessUrl }[host]
}
