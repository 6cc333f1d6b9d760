import type { Config } from '#platform/config/config.ts'

type Hosts = Pick<Config, 'baseUrl'>

/** What a browser is told of this provider (FedCM §3.2). Everything that it asks is on the origin that tells this. */
export function providerConfiguration({ baseUrl: { origin } }: Hosts) {
  return {
    accounts_endpoint: `${origin}/api/oauth/fedcm/accounts`,
    client_metadata_endpoint: `${origin}/api/oauth/fedcm/client-metadata`,
    id_assertion_endpoint: `${origin}/api/oauth/fedcm/assertion`,
    disconnect_endpoint: `${origin}/api/oauth/fedcm/disconnect`,
    login_url: `${origin}/fedcm/login`,
    supports_use_other_account: true,
    branding: {
      name: 'Countersign',
      background_color: '#21398f',
      color: '#fbf9f4',
      icons: [{ url: `${origin}/assets/icon.png`, size: 128 }],
    },
    // Where Chromium looked for it before it stood above.
    modes: { active: { supports_use_other_account: true } },
  }
}

/** That this is the provider of its site, and the only one (FedCM §3.1). */
export function siteProvider(hosts: Hosts) {
  const { accounts_endpoint, login_url } = providerConfiguration(hosts)
  return { provider_urls: [`${hosts.baseUrl.origin}/api/oauth/fedcm/config`], accounts_endpoint, login_url }
}
