/** Somebody's SAML 2.0 identity provider, and what we are to it. */
export type SamlConnection = ServiceProvider & { identityProvider: SamlIdentityProvider }

/** What is kept of an identity provider's metadata; the certificates are PEM. */
export type SamlIdentityProvider = { entityId: string; ssoUrl: string; certificates: string[] }

export type ServiceProvider = {
  /** Our own name, which is also the address of our metadata. */
  entityId: string
  /** Where the answers come (the assertion consumer service). */
  acsUrl: string
}

/** What we are to the identity provider of a connection: to each another, so that no answer is for two of them. */
export function serviceProviderOf({ origin }: URL, connectionId: string): ServiceProvider {
  const ours = `${origin}/api/sso/${connectionId}`
  return { entityId: `${ours}/metadata`, acsUrl: `${ours}/acs` }
}
