import { deflateRawSync } from 'node:zlib'
import { type SamlConnection, bindings, namespaces } from './element.ts'
import { escapeXml } from './xml.ts'

/**
 * Returns the redirect URL to a SAML provider (Web Browser SSO, HTTP-Redirect). The response must name `requestId`, an
 * unpredictable `xs:ID`, which must not begin with a digit. The request is not signed, because it only contains what is
 * registered at the provider.
 */
export function buildAuthnRequest(connection: SamlConnection, requestId: string, now: Date): string {
  const { entityId, acsUrl, identityProvider } = connection
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
  return `${ssoUrl}${ssoUrl.includes('?') ? '&' : '?'}SAMLRequest=${encoded}`
}
