import type { TokenUser, UserInfo } from '@countersign/protocol/oauth/authorize'
import type { Granted } from '#tokens/families/family.ts'

type Claims = Omit<UserInfo, 'sub'>

/** The claims of an identity that a scope lets through (OpenID Connect Core §5.4). */
export function claimsOf(granted: Granted, scope: string[]): Claims {
  return {
    ...(scope.includes('profile') && profileOf(granted)),
    ...(scope.includes('email') && emailOf(granted)),
    ...(scope.includes('user_id') && { user_id: granted.userId }),
  }
}

/** The `user` object of a token response: `id` always, the rest by scope. */
export function tokenUserOf(granted: Granted, scope: string[]): TokenUser {
  const { identityId, handle, displayName, avatarUrl, email, emailVerified } = granted
  return {
    id: identityId,
    ...(scope.includes('profile') && { handle, displayName, avatarUrl }),
    ...(scope.includes('email') && emailVerified && email !== null && { email }),
  }
}

function profileOf({ displayName, handle, avatarUrl, updatedAt }: Granted): Claims {
  return {
    name: displayName,
    preferred_username: handle,
    ...(avatarUrl !== null && { picture: avatarUrl }),
    updated_at: updatedAt,
  }
}

/** Only a verified address is told: an app may take it for proof. */
function emailOf({ email, emailVerified }: Granted): Claims {
  return email !== null && emailVerified ? { email, email_verified: true } : {}
}
