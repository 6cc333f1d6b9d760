import { inlineReferences } from '../tools/references.ts'
import type { Service } from '../server/testing/service.ts'
import { exchange } from './load/exchange.ts'

/** The part of JSON Schema and of an OpenAPI operation from which requests are created. */
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
  /** The kind of bearer token that a caller needs; undefined if anyone may call. */
  security: string | undefined
  parameters: { name: string; in: string; schema: Schema }[]
  body: Schema | undefined
  /** The allowed content types of the body. */
  contentTypes: string[]
}

type Described = {
  servers?: { url: string }[]
  security?: Record<string, unknown>[]
  parameters?: Operation['parameters']
  requestBody?: { content: Record<string, { schema: Schema }> }
}

/** Returns every operation of the interface, from the OpenAPI document of the service. */
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
