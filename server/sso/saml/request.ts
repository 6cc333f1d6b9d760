import { deflateRawSync } from 'node:zlib'
import { randomBytes } from '#platform/crypto/random.ts'
import { bindings, namespaces } from './saml-element.ts'
import type { SamlConnection } from './saml.ts'
import { escapeXml } from './xml.ts'

/**
 * Where the browser goes to sign in with an organization's SAML provider (Web Browser SSO, by HTTP-Redirect), and the
 * id that the answer has to name. The request is not signed: there is nothing in it that the registration at the
 * provider does not say already.
 */
export function beginSaml(connection: SamlConnection, now: Date): { location: string; requestId: string } {
  const { entityId, acsUrl, identityProvider } = connection
  // An xs:ID must not begin with a digit.
  const requestId = `_${randomBytes(20).toString('hex')}`
  const attributes = {
    'xmlns:samlp': namespaces.samlp,
    'xmlns:saml': namespaces.saml,
    ID: requestId,
    Version: '2.0',
    IssueInstant: now.toISOString(),
    Destination: identityProvider.ssoUrl,
    AssertionConsumerServiceURL: acsUrl,
    ProtocolBinding: bindings.post,
  }
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
  const content = `<saml:Issuer>${escapeXml(entityId)}</saml:Issuer><samlp:NameIDPolicy AllowCreate="true"/>`
  const request = `<samlp:AuthnRequest${written.join('')}>${content}</samlp:AuthnRequest>`

  const encoded = encodeURIComponent(deflateRawSync(request).toString('base64'))
  const { ssoUrl } = identityProvider
  return { location: `${ssoUrl}${ssoUrl.includes('?') ? '&' : '?'}SAMLRequest=${encoded}`, requestId }
}
