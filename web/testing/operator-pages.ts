/** Renders components of the operator pages with scripted responses of the service, for an owner. */
import { permissionsOf } from '@countersign/protocol/formats/registries/permissions'
import { asId, type IdentityId } from '@countersign/protocol/ids'
import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { type ComponentType, h } from 'preact'
import { type PageRequest, renderForOrganization } from './organization-pages.ts'

export const pageMoment = '2030-01-01T00:00:00.000Z'

/** Renders a component as a part of the operator pages, with the messages at the edge of the page. */
export async function renderForOperator(View: ComponentType, script: (request: PageRequest) => unknown) {
  const { ActingOperator } = await import('../pages/admin/acting/operator.ts')
  const { LocaleProvider } = await import('../components/frame/Root.tsx')
  const { useAdminMessages } = await import('../pages/admin/words.ts')
  const { Toasts } = await import('../components/frame/Toasts.tsx')
  const identityId = asId<IdentityId>('identity-of-owner')
  const role = 'owner'
  const operator = { identityId, handle: 'olga', displayName: 'Olga', role, permissions: permissionsOf(role) } as const
  const Page = () => {
    const { refused } = useAdminMessages()
    const value = { ...operator, permissions: [...operator.permissions] }
    const parts = h(LocaleProvider, { refused, children: [h(View, {}), h(Toasts, {})] })
    return h(ActingOperator.Provider, { value, children: parts })
  }
  return renderForOrganization(Page, script)
}

/** Returns an identity as operators see it, active unless `other` says more. */
export function pagePerson(other: Partial<AdminIdentityDetails> = {}): AdminIdentityDetails {
  return {
    ...{ identityId: asId<IdentityId>('identity-of-ada'), handle: 'ada', displayName: 'Ada', avatarUrl: null },
    ...{ email: null, emailVerified: false, createdAt: pageMoment, lastSeenOn: null, managedBy: 'self' },
    ...{ status: 'active', statusReason: null, statusAt: null, deletionDueAt: null, groups: [], organizations: [] },
    ...{ hasPasskey: true, hasRecoveryCode: true, hasSigningKey: false, suspensions: [], version: 1 },
    ...other,
  }
}
