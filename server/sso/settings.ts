import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'

/** An OpenID provider, and the client that we are there. */
const OidcSettings = Type.Object({ protocol: Type.Literal('oidc'), issuer: Type.String(), clientId: Type.String() })
export type OidcSettings = Static<typeof OidcSettings>

/** What a connection speaks, and with whom. */
export type Settings = OidcSettings

/** The settings of a connection, as they were written. */
export function readSettings(json: unknown): Settings {
  return Value.Parse(OidcSettings, json)
}
