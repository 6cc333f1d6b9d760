import type { MemberContext } from '#organizations/membership/access.ts'
import type { Member } from '#organizations/membership/member.ts'
import type { RateLimitName, RateLimits } from '#platform/rate-limits/rate-limit.ts'

/**
 * Checks if a request changes nothing and only asks what to sign: in a dry run, or because the organization requires a
 * signature. The act that it starts is another request.
 */
export function isOnlyStart(
  { requested }: Pick<MemberContext, 'requested'>,
  { organization }: Pick<Member, 'organization'>,
): boolean {
  return requested.isDryRun || (organization.requireSignedActions && !requested.act)
}

type LimitPerOrganization = Extract<RateLimitName, `${string}-per-organization`>

/**
 * Counts a change of an organization. What only asks for the signature of a change counts by a limit of its own, since
 * it can also generate keys, and call a KMS or a provider. Throws `rate_limited`.
 */
export async function countChange(
  { rateLimits }: { rateLimits: RateLimits },
  { asking, acting }: { asking: MemberContext; acting: Member },
  limit: LimitPerOrganization,
): Promise<void> {
  const counted = isOnlyStart(asking, acting) ? 'act-starts-per-organization' : limit
  await rateLimits.count(counted, asking.organizationId)
}
