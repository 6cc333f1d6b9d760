import { X509Certificate } from 'node:crypto'
import type { NewSsoConnection, SsoConnection } from '@countersign/protocol/organizations/sso'
import { limits } from '@countersign/protocol/formats/limits'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { idle } from '#platform/idle.ts'
import type { Kernel } from '#platform/module/services.ts'
import { Unreachable, type Outbound } from '#platform/outbound/fetch.ts'
import { refusals } from '#platform/refusal.ts'
import { readProvider } from '#sso/providers/provider.ts'
import { serviceProviderOf } from '#sso/saml/saml.ts'
import { readIdentityProviderMetadata } from '#sso/saml/metadata.ts'

const refuse = refusals({
  invalid_request: [400, 'A connection has either oidc or saml, and saml either metadata or a metadataUrl.'],
  invalid_issuer: [400, 'There is no OpenID provider at this issuer.'],
  invalid_metadata: [400, 'There is no metadata of a SAML 2.0 identity provider at this address.'],
})

/** An OpenID provider, and the client that we are there. */
const OidcSettings = Type.Object({ protocol: Type.Literal('oidc'), issuer: Type.String(), clientId: Type.String() })
export type OidcSettings = Static<typeof OidcSettings>

/** A SAML provider, as its metadata described it when it was read last; the certificates are PEM. */
const SamlSettings = Type.Object({
  protocol: Type.Literal('saml'),
  entityId: Type.String(),
  ssoUrl: Type.String(),
  certificates: Type.Array(Type.String(), { minItems: 1 }),
})
export type SamlSettings = Static<typeof SamlSettings>

/** What a connection speaks, and with whom. */
export type Settings = OidcSettings | SamlSettings

const Settings = Type.Union([OidcSettings, SamlSettings])

/** The settings of a connection, as they were written. */
export function readSettings(json: unknown): Settings {
  return Value.Parse(Settings, json)
}

/** How somebody who connects a provider names it. */
type Named = { oidc?: NewSsoConnection['oidc'] | undefined; saml?: NewSsoConnection['saml'] | undefined }

/** Whatever is wrong at an address is told no sooner: by how fast it is, nobody tells apart where we have knocked. */
const failureMilliseconds = 1000
const withinMilliseconds = 5000

/**
 * With whom a connection is to speak, once that is seen to be there. Refuses `invalid_request`, `invalid_issuer`,
 * `invalid_metadata`.
 */
export async function requireSettings(kernel: Kernel, { oidc, saml }: Named, now: Date): Promise<Settings> {
  if (oidc && !saml) return unhurried(kernel, refuse.invalid_issuer, () => requireOidc(kernel.outbound, oidc))
  if (!saml || oidc) throw refuse.invalid_request()
  return unhurried(kernel, refuse.invalid_metadata, () => requireSaml(kernel.outbound, saml, now))
}

async function requireOidc(outbound: Outbound, { issuer, clientId }: NonNullable<Named['oidc']>): Promise<Settings> {
  await readProvider(outbound, issuer)
  return { protocol: 'oidc', issuer, clientId }
}

async function requireSaml(
  outbound: Outbound,
  { metadata, metadataUrl }: NonNullable<Named['saml']>,
  now: Date,
): Promise<Settings> {
  if ((metadata === undefined) === (metadataUrl === undefined)) throw refuse.invalid_request()
  const read = metadata ?? (await fetchMetadata(outbound, metadataUrl ?? ''))
  return { protocol: 'saml', ...(await readIdentityProviderMetadata(read, now)) }
}

async function fetchMetadata(outbound: Outbound, metadataUrl: string): Promise<string> {
  const objection = outbound.objectionTo(metadataUrl)
  if (objection !== undefined) throw refuse.invalid_metadata({ sentence: `The metadataUrl ${objection}.` })
  const { status, body } = await outbound.exchange(metadataUrl, {
    method: 'GET',
    headers: { accept: 'application/samlmetadata+xml, application/xml, text/xml' },
    bodyBytesMax: limits.samlMetadataBytesMax,
    withinMilliseconds,
  })
  if (status !== 200) throw new Unreachable(`status_${status}`)
  return body.toString('utf8')
}

/** Reads what is somewhere else, and lets nobody tell why there was nothing. */
async function unhurried({ log }: Kernel, refusal: () => Error, read: () => Promise<Settings>): Promise<Settings> {
  const begun = performance.now()
  try {
    return await read()
  } catch (error) {
    await idle(begun + failureMilliseconds - performance.now())
    if (!(error instanceof Unreachable)) throw error
    log.info({ reason: error.reason }, 'the metadata of the provider of an organization could not be read')
    throw refusal()
  }
}

/** Whether both are of one provider, whose names for people are the same. */
export function isSameProvider(one: Settings, other: Settings): boolean {
  return one.protocol === other.protocol && issuerOf(one) === issuerOf(other)
}

/**
 * Whether settings of a provider only say again what its earlier ones said: no key counts that did not count by them,
 * and people are sent to the same place.
 */
export function isBelievedAlready(settings: Settings, earlier: Settings): boolean {
  if (settings.protocol === 'oidc' || earlier.protocol === 'oidc') return isSameProvider(settings, earlier)
  const { certificates, ssoUrl } = earlier
  return settings.ssoUrl === ssoUrl && settings.certificates.every((pem) => certificates.includes(pem))
}

/** The provider's own name. */
export function issuerOf(settings: Settings): string {
  return settings.protocol === 'oidc' ? settings.issuer : settings.entityId
}

type Told = { connectionId: string; settings: Settings; encryptionCertificate: string | null }

/** As those see it who look after the connection: without its secret, and with what the provider is to be told. */
export function tellSettings(
  baseUrl: URL,
  { connectionId, settings, encryptionCertificate }: Told,
): Pick<SsoConnection, 'oidc' | 'saml'> {
  if (settings.protocol === 'oidc') {
    const { issuer, clientId } = settings
    return { oidc: { issuer, clientId, callbackUrl: callbackOf(baseUrl, connectionId) } }
  }
  const { entityId, ssoUrl } = settings
  const certificates = settings.certificates.map((pem) => {
    const { fingerprint256, validToDate } = new X509Certificate(pem)
    return { sha256: fingerprint256.replaceAll(':', '').toLowerCase(), expiresAt: validToDate.toISOString() }
  })
  const { entityId: metadataUrl, acsUrl } = serviceProviderOf(baseUrl, connectionId)
  const encryption = encryptionCertificate === null ? {} : { encryption: tellEncryption(encryptionCertificate) }
  return { saml: { entityId, ssoUrl, certificates, metadataUrl, acsUrl, ...encryption } }
}

function tellEncryption(certificate: string) {
  return { certificate, expiresAt: new X509Certificate(certificate).validToDate.toISOString() }
}

/** Where an OpenID provider sends the browser back. */
export function callbackOf({ origin }: URL, connectionId: string): string {
  return `${origin}/api/sso/${connectionId}/callback`
}
