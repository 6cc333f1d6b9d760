import { X509Certificate } from 'node:crypto'
import type { NewSsoConnection, NextSsoConnection, SsoConnection } from '@countersign/protocol/organizations/sso'
import { limits } from '@countersign/protocol/formats/limits'
import { type Static, Type } from 'typebox'
import { idle } from '#platform/idle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type OutboundClient, OutboundError } from '#platform/outbound/fetch.ts'
import { defineErrors } from '#platform/api-error.ts'
import { fetchProviderMetadata } from '#sso/providers/provider.ts'
import { parseSamlMetadata, serviceProviderOf } from '#sso/providers/saml.ts'
import type { Database } from '#platform/database/database.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import { Secret } from '#platform/crypto/secret.ts'
import type { OidcConnection } from '#sso/providers/oidc.ts'
import { parse } from '#platform/schema.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'Send either oidc or saml, and in saml either metadata or metadataUrl.'],
  invalid_issuer: [400, 'No OpenID provider found at this issuer.'],
  invalid_metadata: [400, 'No SAML 2.0 identity provider metadata found at this URL.'],
})

/** An OpenID provider, and the client registered there for this service. */
const OidcSettings = Type.Object({ protocol: Type.Literal('oidc'), issuer: Type.String(), clientId: Type.String() })
export type OidcSettings = Static<typeof OidcSettings>

/** A SAML provider, as last read from its metadata. The certificates are PEM. */
const SamlSettings = Type.Object({
  protocol: Type.Literal('saml'),
  entityId: Type.String(),
  ssoUrl: Type.String(),
  certificates: Type.Array(Type.String(), { minItems: 1 }),
})
export type SamlSettings = Static<typeof SamlSettings>

/** Protocol and provider of a connection. */
export type Settings = OidcSettings | SamlSettings

const Settings = Type.Union([OidcSettings, SamlSettings])

/** Stored settings of a connection. */
export function parseSettings(json: unknown): Settings {
  return parse(Settings, json)
}

/** Settings of a provider, as a member enters them. */
type Named = { oidc?: NewSsoConnection['oidc'] | undefined; saml?: NewSsoConnection['saml'] | undefined }

/**
 * Minimum time before any failure at an address is reported, so that the duration reveals nothing about the network.
 */
const failureMilliseconds = 1000
const withinMilliseconds = 5000

/**
 * Resolves the settings of a provider after checking that it exists. Throws `invalid_request`, `invalid_issuer`,
 * `invalid_metadata`.
 */
export async function requireSettings(kernel: ServerContext, { oidc, saml }: Named, now: Date): Promise<Settings> {
  if (oidc && !saml) return unhurried(kernel, errors.invalid_issuer, () => requireOidc(kernel.outbound, oidc))
  if (!saml || oidc) throw errors.invalid_request()
  return unhurried(kernel, errors.invalid_metadata, () => requireSaml(kernel.outbound, saml, now))
}

async function requireOidc(
  outbound: OutboundClient,
  { issuer, clientId }: NonNullable<Named['oidc']>,
): Promise<Settings> {
  await fetchProviderMetadata(outbound, issuer)
  return { protocol: 'oidc', issuer, clientId }
}

async function requireSaml(
  outbound: OutboundClient,
  { metadata, metadataUrl }: NonNullable<Named['saml']>,
  now: Date,
): Promise<Settings> {
  if ((metadata === undefined) === (metadataUrl === undefined)) throw errors.invalid_request()
  const read = metadata ?? (await fetchMetadata(outbound, metadataUrl ?? ''))
  return { protocol: 'saml', ...(await parseSamlMetadata(read, now)) }
}

async function fetchMetadata(outbound: OutboundClient, metadataUrl: string): Promise<string> {
  const objection = outbound.objectionTo(metadataUrl)
  if (objection !== undefined) throw errors.invalid_metadata({ sentence: `metadataUrl ${objection}.` })
  const { status, body } = await outbound.exchange(metadataUrl, {
    method: 'GET',
    headers: { accept: 'application/samlmetadata+xml, application/xml, text/xml' },
    bodyBytesMax: limits.samlMetadataBytesMax,
    withinMilliseconds,
  })
  if (status !== 200) throw new OutboundError(`status_${status}`)
  return body.toString('utf8')
}

/** Fetches metadata from an address, and hides the reason of a failure from the member. */
async function unhurried(
  { log }: ServerContext,
  refusal: () => Error,
  read: () => Promise<Settings>,
): Promise<Settings> {
  const begun = performance.now()
  try {
    return await read()
  } catch (error) {
    await idle(begun + failureMilliseconds - performance.now())
    if (!(error instanceof OutboundError)) throw error
    log.info({ reason: error.reason }, 'saml metadata fetch failed')
    throw refusal()
  }
}

/** Checks if both settings are of one provider, whose subjects have the same meaning. */
export function isSameProvider(one: Settings, other: Settings): boolean {
  return one.protocol === other.protocol && issuerOf(one) === issuerOf(other)
}

/** Checks if new provider settings add no trust: every key was trusted before, and the sign-in URL is unchanged. */
export function isAlreadyTrusted(settings: Settings, earlier: Settings): boolean {
  if (settings.protocol === 'oidc' || earlier.protocol === 'oidc') return isSameProvider(settings, earlier)
  const { certificates, ssoUrl } = earlier
  return settings.ssoUrl === ssoUrl && settings.certificates.every((pem) => certificates.includes(pem))
}

/** Returns the provider's own identifier: the issuer or the entity ID. */
export function issuerOf(settings: Settings): string {
  return settings.protocol === 'oidc' ? settings.issuer : settings.entityId
}

type SsoSettingsInput = { connectionId: string; settings: Settings; encryptionCertificate: string | null }

/**
 * Maps settings to the view for members who manage SSO: without the secret, and with the values to register at the
 * provider.
 */
export function toSsoSettings(
  baseUrl: URL,
  { connectionId, settings, encryptionCertificate }: SsoSettingsInput,
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
  const encryption = encryptionCertificate === null ? {} : { encryption: toEncryptionSettings(encryptionCertificate) }
  return { saml: { entityId, ssoUrl, certificates, metadataUrl, acsUrl, ...encryption } }
}

/** Returns what to register at either kind of provider before a connection to it is created. */
export function toNextConnection(baseUrl: URL, connectionId: string): NextSsoConnection {
  const { entityId: metadataUrl, acsUrl } = serviceProviderOf(baseUrl, connectionId)
  return { connectionId, callbackUrl: callbackOf(baseUrl, connectionId), metadataUrl, acsUrl }
}

function toEncryptionSettings(certificate: string) {
  return { certificate, expiresAt: new X509Certificate(certificate).validToDate.toISOString() }
}

/** Returns the redirect URI for an OpenID provider. */
function callbackOf({ origin }: URL, connectionId: string): string {
  return `${origin}/api/sso/${connectionId}/callback`
}

/** Returns the SCIM base URL of a connection. */
export function scimUrlOf({ origin }: URL, connectionId: string): string {
  return `${origin}/scim/v2/${connectionId}`
}

/** Encrypts the client secret for an OpenID provider, for storage in the database. */
export function sealSecret(keyring: Keyring, connectionId: string, clientSecret: string): Promise<string> {
  return keyring.seal(sealOf(connectionId), clientSecret)
}

/** Returns the client that a connection uses at its OpenID provider. */
export async function loadOidcClient(
  { keyring, config }: ServerContext,
  { connectionId, sealedSecret }: { connectionId: string; sealedSecret: string | null },
  { issuer, clientId }: OidcSettings,
): Promise<OidcConnection> {
  if (sealedSecret === null) throw new Error(`the connection ${connectionId} has no client secret`)
  const clientSecret = new Secret(await keyring.open(sealOf(connectionId), sealedSecret))
  return { issuer, clientId, clientSecret, callbackUrl: callbackOf(config.baseUrl, connectionId) }
}

/** Re-encrypts secrets that are not under the current root key, so that the operator can remove the old one. */
export async function reencryptClientSecrets({ db, keyring }: { db: Database; keyring: Keyring }): Promise<void> {
  for (const { connectionId, sealedSecret } of await store.listSealedSecrets(db, keyring)) {
    const sealed = await keyring.renew(sealOf(connectionId), sealedSecret)
    if (sealed !== sealedSecret) await store.replaceSealed(db, connectionId, sealedSecret, sealed)
  }
}

const sealOf = (connectionId: string) => `sso connection ${connectionId}`
