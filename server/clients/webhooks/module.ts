import { endpointsOf } from '@countersign/protocol/endpoint'
import * as serviceEndpoints from '@countersign/protocol/clients/service-webhooks'
import * as endpoints from '@countersign/protocol/clients/webhooks'
import {
  getOwnWebhook,
  listOwnWebhookDeliveries,
  redeliverOwnWebhook,
  removeOwnWebhook,
  rotateOwnWebhookSecret,
  setOwnWebhook,
  testOwnWebhook,
} from '@countersign/protocol/clients/developer'
import { deleteEventParts, failDeliveriesOfDisabled, pruneDeliveries, pruneFormerDeliveries } from './delivery.ts'
import { exportApps } from './endpoint.ts'
import { webhookRoutes } from './routes.ts'
import { pruneWebhookSecrets, reencryptWebhookSecrets } from './secret.ts'
import { startSender } from './sender.ts'
import { serviceWebhookRoutes } from './service/routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'app.webhook.updated',
  'app.webhook.removed',
  'app.webhook.secret_rotated',
  'app.webhook.disabled',
  'app.webhook.redelivered',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.secret_rotated',
  'webhook.disabled',
  'webhook.redelivered',
] as const
const rateLimits = {
  'webhook-tests-per-app': { points: 10, seconds: 3600 },
  'webhook-changes-per-operator': { points: 60, seconds: 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'clients/webhooks': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'clients/webhooks': keyof typeof rateLimits
  }
}

export const webhooks = defineModule()({
  name: 'clients/webhooks',
  endpoints: [
    ...endpointsOf(endpoints),
    ...endpointsOf(serviceEndpoints),
    getOwnWebhook,
    setOwnWebhook,
    removeOwnWebhook,
    rotateOwnWebhookSecret,
    testOwnWebhook,
    listOwnWebhookDeliveries,
    redeliverOwnWebhook,
  ],
  mount(hosts, { kernel }) {
    webhookRoutes(hosts.api, kernel)
    serviceWebhookRoutes(hosts.api, kernel)
  },
  auditActions,
  rateLimits,
  webhookEvents: ['webhook.test', 'service.test'],
  tables: {
    webhook_endpoint: { backup: 'include', placement: 'every node' },
    webhook_secret: { backup: 'include', placement: 'every node' },
    // Deliveries that were pending have been sent since, or are outdated.
    webhook_delivery: { backup: 'exclude', placement: 'coordinator' },
    webhook_delivery_part: {
      backup: 'exclude',
      placement: 'coordinator',
      export: { because: 'It lasts until the app has got its event.' },
    },
    webhook_attempt: { backup: 'exclude', placement: 'coordinator' },
  },
  cleanupTasks: {
    'webhook-secrets': pruneWebhookSecrets,
    webhooks: pruneDeliveries,
    'removed-webhooks': pruneFormerDeliveries,
    'disabled-webhooks': failDeliveriesOfDisabled,
  },
  maintenanceTasks: { 'reencrypt-webhook-secrets': reencryptWebhookSecrets },
  background: ({ kernel }) => startSender(kernel),
  ended: { identities: (tx, { identityIds }) => deleteEventParts(tx, identityIds) },
  exported: { account: { apps: (db, { userId }) => exportApps(db, userId) } },
})
