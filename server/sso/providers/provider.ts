import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { Outbound } from '#platform/outbound/fetch.ts'
import { refusals } from '#platform/refusal.ts'

const refuse = refusals({ invalid_issuer: [400, 'There is no OpenID provider at this issuer.'] })

/** The algorithms whose signatures are taken: by keys that the provider alone has. */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

const metadataBytesMax = 256 * 1024
const withinMilliseconds = 5000

/** What is read of a provider's metadata (OpenID Connect Discovery §3). */
const Metadata = Type.Object({
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  jwks_uri: Type.String(),
  userinfo_endpoint: Type.Optional(Type.String()),
  id_token_signing_alg_values_supported: Type.Optional(Type.Array(Type.String())),
  token_endpoint_auth_methods_supported: Type.Optional(Type.Array(Type.String())),
  authorization_response_iss_parameter_supported: Type.Optional(Type.Boolean()),
})

/** An OpenID provider by its own words, of which nothing is left that may not be used. */
export const Provider = Type.Object({
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  jwks_uri: Type.String(),
  userinfo_endpoint: Type.Optional(Type.String()),
  id_token_signing_alg_values_supported: Type.Array(Type.String(), { minItems: 1 }),
  authorization_response_iss_parameter_supported: Type.Boolean(),
  takesSecretBy: Type.Union([Type.Literal('client_secret_basic'), Type.Literal('client_secret_post')]),
})
export type Provider = Static<typeof Provider>

/**
 * Reads what a provider says of itself, now. Refuses `invalid_issuer`, and says what is wrong. Throws `Unreachable`
 * where there is no answer.
 */
export async function readProvider(outbound: Outbound, issuer: string): Promise<Provider> {
  const because = (what: string) => refuse.invalid_issuer({ sentence: `The issuer ${what}.` })
  const objection = outbound.objectionTo(issuer)
  if (objection !== undefined) throw because(objection)
  if (new URL(issuer).search !== '') throw because('has no query')

  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const { json: said } = await outbound.get(address, { bodyBytesMax: metadataBytesMax, withinMilliseconds })
  if (!Value.Check(Metadata, said)) throw because('lacks an endpoint in its metadata')
  // Letter for letter (OpenID Connect Discovery §4.3): another name would be another provider's.
  if (said.issuer !== issuer) throw because('calls itself otherwise in its metadata')
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = said
  const endpoints = [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint ?? issuer]
  if (endpoints.some((each) => outbound.objectionTo(each) !== undefined))
    throw because('has an endpoint that must not be used')

  const { id_token_signing_alg_values_supported: signsBy = ['RS256'] } = said
  const allowed = algorithms.filter((algorithm) => signsBy.includes(algorithm))
  if (allowed.length === 0) throw because('signs by no algorithm that is taken here')
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = said
  const takesSecretBy = (['client_secret_basic', 'client_secret_post'] as const).find((one) => methods.includes(one))
  if (!takesSecretBy) throw because('takes no client secret')
  return {
    issuer,
    authorization_endpoint,
    token_endpoint,
    jwks_uri,
    ...(userinfo_endpoint !== undefined && { userinfo_endpoint }),
    id_token_signing_alg_values_supported: allowed,
    authorization_response_iss_parameter_supported: said.authorization_response_iss_parameter_supported === true,
    takesSecretBy,
  }
}
