import type { ResponseOf } from '@countersign/protocol/api'
import type { CommunicationMode } from '@countersign/protocol/oauth/delegations'
import { parseScope } from '@countersign/protocol/formats/scope'
import type { Connector, SignInView } from '@countersign/protocol/pages'
import type { Permission } from '../../../components/display/Facts.tsx'
import { redirectTargetLabel } from '../../../lib/navigation.ts'

/** The delegation that an identity has granted the app at the other app, and the requested scopes that it lacks. */
export type ExistingDelegation = NonNullable<ResponseOf<'GET /api/oauth/authorization/:clientId'>['connector']>

/** The result of a consent: the new permissions, the permissions that the app already has, and when it may use them. */
export type Delegating = { fresh: Permission[]; known: Permission[]; mode: CommunicationMode; alsoAway: boolean }

/**
 * A background delegation stays one. A delegation that becomes one does so with all its permissions. Users see both,
 * because they consent to the result.
 */
export function delegationState(requested: Connector, { delegation, missingScopes }: ExistingDelegation): Delegating {
  const fresh = requested.scopes.filter(({ scope }) => missingScopes.includes(scope))
  if (!delegation) return { fresh, known: [], mode: requested.mode, alsoAway: false }
  const { scope: allowed, scopeDescriptions, communicationMode } = delegation
  const known = parseScope(allowed).map((scope) => ({ scope, description: scopeDescriptions[scope] ?? '' }))
  const mode = communicationMode === 'background' ? communicationMode : requested.mode
  return { fresh, known, mode, alsoAway: mode !== communicationMode }
}

/** Returns the requested scopes in the format of the API. */
export function scopeTextOf({ scopes }: Pick<Connector, 'scopes'>): string {
  return scopes.map(({ scope }) => scope).join(' ')
}

/** Names the destination of the response as users may recognize it: the app's page, also with FedCM. */
export function destination({ givenTo, redirectUri }: Pick<SignInView, 'givenTo' | 'redirectUri'>): string {
  return redirectTargetLabel(givenTo ?? redirectUri)
}
