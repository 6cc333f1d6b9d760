import type { NextSsoConnection, SsoConnection } from '@countersign/protocol/organizations/sso'
import type { BusinessWords } from '../words.ts'

/** The protocol of a provider. */
export type Kind = 'oidc' | 'saml'

/** Returns the values of a connection that users register at its provider, each with a button that copies it. */
export function valuesOf({ oidc, saml }: SsoConnection, words: BusinessWords['sso']) {
  if (oidc) return [callback(oidc, words)]
  return saml ? [{ label: words.ourMetadata, value: saml.metadataUrl, action: 'copy-metadata' }, acs(saml, words)] : []
}

/** Returns those of a connection that is not created yet: until then, its metadata is not served. */
export function valuesOfNext(next: NextSsoConnection, kind: Kind, words: BusinessWords['sso']) {
  if (kind === 'oidc') return [callback(next, words)]
  return [{ label: words.entityId, value: next.metadataUrl, action: 'copy-entity-id' }, acs(next, words)]
}

function callback({ callbackUrl }: { callbackUrl: string }, words: BusinessWords['sso']) {
  return { label: words.callback, value: callbackUrl, action: 'copy-callback' }
}

function acs({ acsUrl }: { acsUrl: string }, words: BusinessWords['sso']) {
  return { label: words.acs, value: acsUrl, action: 'copy-acs' }
}
