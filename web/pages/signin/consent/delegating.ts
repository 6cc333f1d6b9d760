import type { Answer } from '@countersign/protocol/api'
import type { CommunicationMode } from '@countersign/protocol/oauth/delegations'
import { scopesOf } from '@countersign/protocol/formats/scope'
import type { Connector } from '@countersign/protocol/pages'
import type { Permit } from '../../../components/display/Permits.tsx'

/** What an identity has let the app do at the other one, and what of the wish that does not cover. */
export type Granted = NonNullable<Answer<'GET /api/oauth/authorization/:clientId'>['connector']>

/** What comes of a yes: what is new by it, what the app may do already, and when it may do all of that. */
export type Delegating = { fresh: Permit[]; known: Permit[]; mode: CommunicationMode; alsoAway: boolean }

/**
 * A grant for the background stays one, and one that becomes so does with all that it allows: both are shown, for what
 * a person agrees to is what comes of it.
 */
export function delegatingOf(wanted: Connector, { delegation, missingScopes }: Granted): Delegating {
  const fresh = wanted.scopes.filter(({ scope }) => missingScopes.includes(scope))
  if (!delegation) return { fresh, known: [], mode: wanted.mode, alsoAway: false }
  const { scope: allowed, scopeDescriptions, communicationMode } = delegation
  const known = scopesOf(allowed).map((scope) => ({ scope, description: scopeDescriptions[scope] ?? '' }))
  const mode = communicationMode === 'background' ? communicationMode : wanted.mode
  return { fresh, known, mode, alsoAway: mode !== communicationMode }
}

/** The scopes that an app asks for, as the interface takes them. */
export function scopeTextOf({ scopes }: Pick<Connector, 'scopes'>): string {
  return scopes.map(({ scope }) => scope).join(' ')
}
