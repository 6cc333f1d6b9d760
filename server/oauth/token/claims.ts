import type { UserInfo } from '@countersign/protocol/oauth/authorize'
import type { StandardScope } from '@countersign/protocol/formats/scope'
import type { ScopeSet } from '@countersign/protocol/scope-set'
import type { TokenFamilyGrant } from '#tokens/families/family.ts'

type IdentityClaim = Exclude<keyof UserInfo, 'sub' | 'organization'>
type ClaimValues = Required<Pick<UserInfo, IdentityClaim>>
export type IdentityClaims = Partial<ClaimValues>

type Profile = Pick<TokenFamilyGrant, 'displayName' | 'handle' | 'avatarUrl' | 'email' | 'emailVerified' | 'userId'>
/** The identity of a grant, and what operators assigned to it, if the scope gives it. */
type ClaimSource = Profile & {
  updatedAt?: number | undefined
  groups?: string[] | undefined
  roles?: string[] | undefined
}

/** A claim: the scope that gives it, and its value. An undefined value is left out. */
type ClaimDefinition<Value> = { scope: StandardScope; of: (granted: ClaimSource) => Value | undefined }
type ClaimDefinitions = { [Name in keyof ClaimValues]: ClaimDefinition<ClaimValues[Name]> }

/**
 * The claims of an identity (OpenID Connect Core §5.1 and §5.4). The UserInfo response, ID tokens and the provider
 * metadata are derived from these rows; the schema `UserInfo` has a field for each.
 */
const definitions: ClaimDefinitions = {
  name: { scope: 'profile', of: ({ displayName }) => displayName },
  preferred_username: { scope: 'profile', of: ({ handle }) => handle },
  picture: { scope: 'profile', of: ({ avatarUrl }) => avatarUrl ?? undefined },
  updated_at: { scope: 'profile', of: ({ updatedAt }) => updatedAt },
  email: { scope: 'email', of: verifiedEmail },
  email_verified: { scope: 'email', of: (granted) => (verifiedEmail(granted) === undefined ? undefined : true) },
  user_id: { scope: 'user_id', of: ({ userId }) => userId },
  groups: { scope: 'groups', of: ({ groups }) => groups },
  roles: { scope: 'roles', of: ({ roles }) => roles },
}

const identityClaimNames = Object.keys(definitions).filter((name) => isIdentityClaim(name))

/** Claims of the authentication, which ID tokens contain (OpenID Connect Core §2). */
const authenticationClaims = 'iss sub aud azp exp iat auth_time nonce amr acr sid at_hash'.split(' ')

/** Names of all claims, for the provider metadata. */
export const supportedClaims = [...authenticationClaims, ...identityClaimNames, 'organization', 'claims_omitted']

/** Returns the claims of an identity that a scope allows (OpenID Connect Core §5.4). */
export function identityClaims(granted: ClaimSource, scope: ScopeSet): IdentityClaims {
  const claims: IdentityClaims = {}
  for (const name of identityClaimNames)
    if (scope.has(definitions[name].scope)) setClaim(claims, name, definitions[name].of(granted))
  return claims
}

function setClaim<Name extends IdentityClaim>(
  claims: IdentityClaims,
  name: Name,
  value: ClaimValues[Name] | undefined,
): void {
  if (value !== undefined) claims[name] = value
}

function isIdentityClaim(text: string): text is IdentityClaim {
  return Object.hasOwn(definitions, text)
}

/** Returns a verified address only: apps may rely on it as proof. */
export function verifiedEmail({
  email,
  emailVerified,
}: Pick<TokenFamilyGrant, 'email' | 'emailVerified'>): string | undefined {
  return email !== null && emailVerified ? email : undefined
}
