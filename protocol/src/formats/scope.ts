/** The scopes that every app may be allowed (interface §2); `openid profile email offline_access` unless it says. */
export const standardScopes = ['openid', 'profile', 'email', 'offline_access', 'user_id'] as const
export type StandardScope = (typeof standardScopes)[number]

export const defaultAllowedScopes = ['openid', 'profile', 'email', 'offline_access'] as const

/** The scopes of an app that takes keys for end-to-end encryption: how its key is made, and that it is replaced. */
export const encryptionScopes = ['e2ee:symmetric', 'e2ee:asymmetric', 'e2ee:reset'] as const
export type EncryptionScope = (typeof encryptionScopes)[number]

/** The scope tokens of a space-separated list, each once, in the order given (RFC 6749 §3.3). */
export function scopesOf(list: string): string[] {
  return [...new Set(list.split(' ').filter((scope) => scope !== ''))]
}

export function isEncryptionScope(text: string): text is EncryptionScope {
  return encryptionScopes.some((scope) => scope === text)
}

export function isStandardScope(text: string): text is StandardScope {
  return standardScopes.some((scope) => scope === text)
}
