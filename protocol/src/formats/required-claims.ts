/** Claims that an app may require: those that an identity can lack. */
export const requirableClaims = ['email'] as const
export type RequirableClaim = (typeof requirableClaims)[number]

export function isRequirableClaim(text: string): text is RequirableClaim {
  return requirableClaims.some((claim) => claim === text)
}

/** Lists the claims required by an app that an identity lacks. An e-mail address counts only if it is verified. */
export function missingClaims(
  required: readonly string[],
  { email, emailVerified }: { email: string | null; emailVerified: boolean },
): RequirableClaim[] {
  const has = { email: emailVerified && email !== null }
  return requirableClaims.filter((claim) => required.includes(claim) && !has[claim])
}
