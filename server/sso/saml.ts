/** Somebody's SAML 2.0 identity provider, and what we are to it. */
export type SamlConnection = {
  /** Our own name, which is also the address of our metadata. */
  entityId: string
  /** Where its answers come (the assertion consumer service). */
  acsUrl: string
  identityProvider: SamlIdentityProvider
}

/** What is kept of an identity provider's metadata. */
export type SamlIdentityProvider = { entityId: string; ssoUrl: string; certificates: string[] }
