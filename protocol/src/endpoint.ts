import { Type, type Static, type TObject, type TSchema } from 'typebox'
import type { Permission } from './formats/registries/permissions.ts'

/** Host that answers: `{base_url}`, `{auth_url}`, `{business_url}`, or each of them. */
export type HostName = 'api' | 'auth' | 'business' | 'every host'

/**
 * Authentication of the caller; used by the guard test, the OpenAPI document and the reader. A `client in body` sends
 * its credentials as fields of a JSON body only.
 */
export type Security = 'none' | 'client' | 'client in body' | 'session' | 'fedcm session' | 'access token' | 'admin'

/** Origins from which a browser may call (completions §4.0). */
export type Cors = 'no origin' | 'any origin' | 'redirect URI origins' | 'first party' | 'auth host' | 'requesting app'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Parts = { params?: TSchema; querystring?: TSchema; headers?: TSchema; body?: TSchema }
type Status = 200 | 201 | 204

/**
 * Permissions of a session that SSO alone has opened, without a passkey: none, unless the endpoint states a limit.
 *
 * Anyone who controls the organization's identity provider can open such a session. It is therefore not accepted for
 * what the user owns: passkeys, keys, other identities, apps, delegations, the account as a whole; nor for signatures.
 */
export type SsoSessionUse = 'nothing' | 'its own session' | 'its identity' | 'its organization'

/**
 * An endpoint of the admin API requires a permission, and no other endpoint does. `recentAuthentication` requires the
 * use of a passkey within five minutes from operators with a session. Only pages of the auth host send their cookies.
 */
type Protection =
  | { security: Exclude<Security, 'admin'>; cors: Exclude<Cors, 'auth host'> }
  | { security: 'admin'; cors: 'auth host'; permission: Permission; recentAuthentication?: boolean }

type EndpointInfo<Use extends SsoSessionUse = SsoSessionUse, Recovered extends boolean = boolean> = Protection & {
  summary: string
  host?: HostName
  ssoSession?: Use
  /**
   * True if the endpoint accepts a session of a passkey that a recovery link brought. Such a session is limited to one
   * identity: the endpoint must neither show nor change anything of its siblings or of the account as a whole.
   */
  recoveredSession?: Recovered
}
/**
 * Options of an endpoint. `refusal` is the schema of errors if it differs from the usual one. `consumes` is the media
 * type of a body without a schema.
 */
type EndpointOptions<Use extends SsoSessionUse, Recovered extends boolean> = EndpointInfo<Use, Recovered> & {
  refusal?: TSchema
  consumes?: string
}

/** Wire format of every error. */
export const ErrorBody = Type.Object(
  { error: Type.String(), error_description: Type.String() },
  { additionalProperties: true },
)

/**
 * Returns the schema of a body that may be omitted. One schema, instead of a union in which both members would match.
 */
export function optionalBody<Body extends TObject>(body: Body) {
  return Type.Unsafe<Static<Body> | null>({ ...body, type: ['object', 'null'] })
}

/** Schema of an answer without a body. */
export const NoContent = Type.Null({ description: 'No content' })

/**
 * Defines an endpoint of the interface as data. The server mounts it (`host.route({ ...endpoint, handler })`), the
 * browser and the SDK call it by its name, and OpenAPI lists it. Its keys are those of Fastify, so that mounting needs
 * no wrapper.
 */
export function endpoint<
  const Name extends `${Method} /${string}`,
  const In extends Parts,
  Ok extends TSchema,
  const Code extends Status,
  const Use extends SsoSessionUse = 'nothing',
  const Recovered extends boolean = false,
>(name: Name, about: EndpointOptions<Use, Recovered>, parts: In, answer: { [K in Code]: Ok }) {
  const [method, url] = name.split(' ') as [Name extends `${infer M} ${string}` ? M : never, string]
  const { summary, security, cors, host = 'api', refusal = ErrorBody, consumes } = about
  const permission = about.security === 'admin' ? about.permission : undefined
  const recentAuthentication = about.security === 'admin' && about.recentAuthentication === true
  const ssoSession = (about.ssoSession ?? 'nothing') as Use
  const recoveredSession = (about.recoveredSession ?? false) as Recovered
  const response = { ...answer, '4xx': refusal } as { [K in Code]: Ok }
  const acceptance = { security, permission, recentAuthentication, ssoSession, recoveredSession }
  const config = { summary, cors, host, consumes, ...acceptance }
  return { name, method, url, config, schema: { ...parts, response } }
}

/** Type of any endpoint, for code that iterates over all of them. */
export type AnyEndpoint = {
  name: string
  method: Method
  url: string
  config: {
    summary: string
    security: Security
    permission: Permission | undefined
    recentAuthentication: boolean
    cors: Cors
    host: HostName
    ssoSession: SsoSessionUse
    recoveredSession: boolean
    consumes: string | undefined
  }
  schema: Parts & { response: Record<string, TSchema> }
}

/** Endpoints among the exports of a module. */
export type EndpointsOf<Module> = Extract<Module[keyof Module], Pick<AnyEndpoint, 'name' | 'config'>>

/** Returns the endpoints among the exports of a module. */
export function endpointsOf<Module extends object>(module: Module): EndpointsOf<Module>[] {
  return Object.values(module).filter((value): value is EndpointsOf<Module> => isEndpoint(value))
}

export function isEndpoint(value: unknown): value is AnyEndpoint {
  return typeof value === 'object' && value !== null && 'name' in value && 'config' in value && 'schema' in value
}
