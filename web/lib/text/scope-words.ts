import type { Identity } from '@countersign/protocol/accounts/identities'
import type { Words } from '../../locales/words.ts'

/** One thing that an app learns, or may do: what it is, and its value where there is one. */
export type Fact = { scope: string; label: string; value: string; withheld?: true }

type ScopeWords = Pick<Words, 'scopes'>

/** What an app learns of an identity by some scopes, in the person's words and with the very values. */
export function factsOf(scopes: string[], identity: Identity, words: ScopeWords): Fact[] {
  return scopes.flatMap((scope) => factsOfScope(scope, identity, words))
}

function factsOfScope(scope: string, identity: Identity, { scopes: words }: ScopeWords): Fact[] {
  switch (scope) {
    case 'openid':
      return [{ scope, label: words.openid, value: words.openidValue }]
    case 'profile':
      return [
        { scope, label: words.name, value: identity.displayName },
        { scope, label: words.handle, value: `@${identity.handle}` },
      ]
    case 'email':
      return [emailFact(identity, words)]
    case 'offline_access':
      return [{ scope, label: words.offline_access, value: words.offline_accessValue }]
    case 'user_id':
      return [{ scope, label: words.user_id, value: words.user_idValue }]
    case 'e2ee:symmetric':
      return [{ scope, label: words.encryption, value: words.symmetricValue }]
    case 'e2ee:asymmetric':
      return [{ scope, label: words.encryption, value: words.asymmetricValue }]
    default:
      // A scope that this page has no words for is shown by its name: never granted unseen.
      return [{ scope, label: scope, value: '' }]
  }
}

function emailFact(identity: Identity, words: Words['scopes']): Fact {
  const email = sharedEmail(identity)
  const fact = { scope: 'email', label: words.email }
  return email === undefined ? { ...fact, value: words.noEmail, withheld: true } : { ...fact, value: email }
}

/** The address that an app would get: one that is verified, or none. */
function sharedEmail({ email, emailVerified }: Identity): string | undefined {
  return emailVerified && email !== null ? email : undefined
}

/** The scopes that an identity can grant: all that are wanted, but not `email` where there is none to share. */
export function grantableScopes(wanted: string[], identity: Identity): string[] {
  return wanted.filter((scope) => scope !== 'email' || sharedEmail(identity) !== undefined)
}

/** The scopes of a connected app, in a few words each. */
export function scopesInShort(scopes: string[], { scopes: { short } }: ScopeWords): string[] {
  const known: Record<string, string> = short
  return scopes.map((scope) => known[scope] ?? scope)
}
