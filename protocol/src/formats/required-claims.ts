/** The claims that an app may require: those that an identity can be without. */
export const requirableClaims = ['email'] as const
export type RequirableClaim = (typeof requirableClaims)[number]

export function isRequirableClaim(text: string): text is RequirableClaim {
  return requirableClaims.some((claim) => claim === text)
}

/** Which of the claims that an app requires an identity has not: an e-mail address counts once it is verified. */
export function missingClaims(
  required: readonly string[],
  { email, emailVerified }: { email: string | null; emailVerified: boolean },
): RequirableClaim[] {
  const has = { email: emailVerified && email !== null }
  return requirableClaims.filter((claim) => required.includes(claim) && !has[claim])
}
