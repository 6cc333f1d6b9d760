import {
  authorizationServerMetadata,
  jwks,
  openidConfiguration,
  webfinger,
} from '@countersign/protocol/oauth/authorize'
import { defineModule } from '#platform/module/define-module.ts'
import { discoveryRedirects, discoveryRoutes, type DiscoveryServices } from './routes.ts'

export const discovery = defineModule<DiscoveryServices>()({
  name: 'oauth/discovery',
  endpoints: [openidConfiguration, authorizationServerMetadata, jwks, webfinger],
  metadata: ({ authUrl, baseUrl }) => ({
    issuer: authUrl.origin,
    jwks_uri: `${authUrl.origin}/.well-known/jwks.json`,
    subject_types_supported: ['public'],
    service_documentation: `${baseUrl.origin}/docs`,
  }),
  mount(hosts, services) {
    discoveryRoutes(hosts.auth, services)
    if (hosts.api !== hosts.auth) discoveryRedirects(hosts.api, services.kernel.config.authUrl)
  },
})
