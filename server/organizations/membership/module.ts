import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['organization.sso_bypassed'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'organizations/membership': (typeof auditActions)[number]
  }
}

export const membership = defineModule()({
  name: 'organizations/membership',
  auditActions,
  tables: {
    organization_sso_confirmation: {
      backup: 'include',
      placement: 'every node',
      export: { because: 'It is the confirmation of a sign-in that the activity has.' },
    },
    organization_signatory: { backup: 'include', placement: 'every node', export: 'activity' },
    organization_council_reset: { backup: 'include', placement: 'every node' },
  },
})
