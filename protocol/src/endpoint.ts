import { Type, type Static, type TObject, type TSchema } from 'typebox'

/** Which of the three hosts answers: `{base_url}`, `{auth_url}`, `{business_url}`, or each of them. */
export type HostName = 'api' | 'auth' | 'business' | 'every host'

/** How a caller proves itself; read by the guard test, the OpenAPI document and the reader. */
export type Security = 'none' | 'client' | 'session' | 'federated session' | 'access token' | 'admin'

/** From which origins a browser may call (completions §4.0). */
export type Cors = 'no origin' | 'any origin' | 'origins of redirect URIs' | 'our pages' | 'the app that asks'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Parts = { params?: TSchema; querystring?: TSchema; body?: TSchema }
type Status = 200 | 201 | 204

/**
 * What a session may do here that an organization's SSO alone has opened, without a passkey: nothing, unless the
 * endpoint says what it is limited to. Anyone who controls the organization's provider can open one, so it is not for
 * what the user owns: passkeys, keys, other identities, apps, delegations, and the account as a whole; nor for
 * signatures.
 */
export type SsoSessionUse = 'nothing' | 'its own session' | 'its identity' | 'its organization'

type Listed = { summary: string; security: Security; cors: Cors; host?: HostName; ssoSession?: SsoSessionUse }
/**
 * `refusal` is the shape of refusals where it differs from everywhere else. `consumes` is the media type of a body that
 * no schema describes.
 */
type About = Listed & { refusal?: TSchema; consumes?: string }

/** The wire shape of every refusal. */
export const RefusalBody = Type.Object(
  { error: Type.String(), error_description: Type.String() },
  { additionalProperties: true },
)

/** The schema of a body that may also be left away. One kind, not two of which either would do. */
export function orNoBody<Body extends TObject>(body: Body) {
  return Type.Unsafe<Static<Body> | null>({ ...body, type: ['object', 'null'] })
}

/** The schema of an answer without a body. */
export const Nothing = Type.Null({ description: 'No content' })

/**
 * One endpoint of the interface, as data: the server mounts it (`host.route({ ...endpoint, handler })`), the browser
 * and the SDK call it by its name, OpenAPI lists it. Its keys are Fastify's own, so that mounting needs no wrapper.
 */
export function endpoint<
  const Name extends `${Method} /${string}`,
  const In extends Parts,
  Ok extends TSchema,
  const Code extends Status,
>(name: Name, about: About, parts: In, answer: { [K in Code]: Ok }) {
  const [method, url] = name.split(' ') as [Name extends `${infer M} ${string}` ? M : never, string]
  const { summary, security, cors, host = 'api', ssoSession = 'nothing', refusal = RefusalBody, consumes } = about
  const response = { ...answer, '4xx': refusal } as { [K in Code]: Ok }
  const config = { summary, security, cors, host, ssoSession, consumes }
  return { name, method, url, config, schema: { ...parts, response } }
}

/** What any endpoint value is, for those who walk over all of them. */
export type AnyEndpoint = {
  name: string
  method: Method
  url: string
  config: Required<Listed> & { consumes: string | undefined }
  schema: Parts & { response: Record<string, TSchema> }
}
