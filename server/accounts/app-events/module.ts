import { defineModule } from '#platform/module/define-module.ts'

export const appEvents = defineModule()({
  name: 'accounts/app-events',
  webhookEvents: [
    'identity.created',
    'identity.updated',
    'identity.suspended',
    'identity.activated',
    'identity.deletion_scheduled',
    'identity.restored',
    'identity.deleted',
    'group.created',
    'group.updated',
    'group.deleted',
    'group.member.added',
    'group.member.removed',
  ],
  // Like pending deliveries, they have been sent since, or are outdated.
  tables: { app_event: { backup: 'exclude', placement: 'coordinator' } },
})
