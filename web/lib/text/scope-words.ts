import type { Identity } from '@countersign/protocol/accounts/identities'
import { isConsentScope, type ConsentScope } from '@countersign/protocol/formats/scope'
import type { Messages } from '../../locales/messages.ts'
import { atHandle } from './handle.ts'

/** One claim or permission: its label, and its value if there is one. */
export type LabelledValue = { scope: string; label: string; value: string; withheld?: true }

type ScopeWords = Pick<Messages, 'scopes'>

/** Lists what an app learns about an identity from some scopes, with the actual values. */
export function consentFacts(scopes: string[], identity: Identity, words: ScopeWords): LabelledValue[] {
  return scopes.flatMap((scope) => factsOfScope(scope, identity, words))
}

type FactsOfScope = (identity: Identity, words: Messages['scopes']) => Omit<LabelledValue, 'scope'>[]

/** Describes a scope in words that are the same for every identity. */
function described(scope: 'openid' | 'offline_access' | 'user_id' | 'groups' | 'roles'): FactsOfScope {
  return (_identity, words) => [{ label: words[scope], value: words[`${scope}Value`] }]
}

/** Facts by scope. The type requires a row for every scope. */
const factsByScope: Record<ConsentScope, FactsOfScope> = {
  openid: described('openid'),
  profile: ({ displayName, handle }, words) => [
    { label: words.name, value: displayName },
    { label: words.handle, value: atHandle(handle) },
  ],
  email: (identity, words) => [emailFact(identity, words)],
  offline_access: described('offline_access'),
  user_id: described('user_id'),
  groups: described('groups'),
  roles: described('roles'),
  'e2ee:symmetric': (_identity, words) => [{ label: words.encryption, value: words.symmetricValue }],
  'e2ee:asymmetric': (_identity, words) => [{ label: words.encryption, value: words.asymmetricValue }],
}

function factsOfScope(scope: string, identity: Identity, { scopes: words }: ScopeWords): LabelledValue[] {
  // A scope without a text is shown by its name, so that no scope is granted unseen.
  if (!isConsentScope(scope)) return [{ scope, label: scope, value: '' }]
  return factsByScope[scope](identity, words).map((fact) => ({ scope, ...fact }))
}

function emailFact(identity: Identity, { email: label, noEmail }: Messages['scopes']): Omit<LabelledValue, 'scope'> {
  const email = sharedEmail(identity)
  return email === undefined ? { label, value: noEmail, withheld: true } : { label, value: email }
}

/** Returns the e-mail address that an app would get: only a verified one. */
function sharedEmail({ email, emailVerified }: Identity): string | undefined {
  return emailVerified && email !== null ? email : undefined
}

/**
 * Returns the scopes that an identity can grant: all requested ones, but `email` only if there is an address to share.
 */
export function grantableScopes(requested: string[], identity: Identity): string[] {
  return requested.filter((scope) => scope !== 'email' || sharedEmail(identity) !== undefined)
}

/** Returns a short label for each scope of a connected app. */
export function shortScopeLabels(scopes: string[], labels: Record<ConsentScope, string>): string[] {
  return scopes.map((scope) => (isConsentScope(scope) ? labels[scope] : scope))
}
