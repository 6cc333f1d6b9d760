import type { Identity } from '@countersign/protocol/accounts/identities'
import type { InvitationPreview } from '@countersign/protocol/organizations/invitations'

/** An identity that can accept an invitation. With `verifyEmail`, it also gets the invited address. */
export type JoinChoice = { identity: Identity; verifyEmail: boolean }

/**
 * Returns the identities that can accept an invitation: those that it is for, and with the link of the mail all others
 * too, those without an address first.
 */
export function joinChoices(
  { identityIds, email, provesEmail }: Pick<InvitationPreview, 'identityIds' | 'email' | 'provesEmail'>,
  identities: Identity[],
): JoinChoice[] {
  const invited = identities.filter(({ identityId }) => identityIds.includes(identityId))
  const choices = invited.map((identity) => ({ identity, verifyEmail: false }))
  if (!provesEmail || email === null || invited.length > 0) return choices
  const rank = (identity: Identity) => (identity.email === null ? 0 : 1)
  const others = identities.toSorted((one, other) => rank(one) - rank(other))
  return others.map((identity) => ({ identity, verifyEmail: true }))
}

/** Returns the choice that needs no question: the only invited identity, or the only one, which has no address yet. */
export function onlyChoice(choices: JoinChoice[]): JoinChoice | undefined {
  const [first, ...others] = choices
  if (!first || others.length > 0) return undefined
  return !first.verifyEmail || first.identity.email === null ? first : undefined
}
