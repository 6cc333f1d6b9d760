import { type OrganizationId, asId } from '@countersign/protocol/ids'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { generateToken, parseToken, uuidFromBytes, uuidToBytes } from '#platform/crypto/token-format.ts'
import type { PendingInvitation } from './invitation-store.ts'

export type InvitationKey = { organizationId: OrganizationId; invitationId: string }

/**
 * The secret with which an invitation is accepted. `link`: the inviting member saw it. `mail`: it was in the mail to
 * the invited address and nowhere else, so that it proves control of the address.
 */
export type InvitationSecret = { kind: 'link' | 'mail'; sha256: Uint8Array }

export function generateInvitationToken({ organizationId, invitationId }: InvitationKey): string {
  return generateToken('invitation', uuidToBytes(organizationId), uuidToBytes(invitationId))
}

/** Returns the invitation that a token names, without checking its secret; undefined if it has another form. */
export function parseInvitationToken(token: string): InvitationKey | undefined {
  const route = parseToken('invitation', token, 32)
  return (
    route && {
      organizationId: asId<OrganizationId>(uuidFromBytes(route.subarray(0, 16))),
      invitationId: uuidFromBytes(route.subarray(16)),
    }
  )
}

/** Returns which secret of an invitation a token is; undefined if it is none of them. */
export function matchInvitationToken(
  { tokenSha256, mailTokenSha256 }: Pick<PendingInvitation, 'tokenSha256' | 'mailTokenSha256'>,
  token: string,
): InvitationSecret | undefined {
  const presented = sha256(token)
  if (equalBytes(tokenSha256, presented)) return { kind: 'link', sha256: presented }
  if (mailTokenSha256 !== null && equalBytes(mailTokenSha256, presented)) return { kind: 'mail', sha256: presented }
  return undefined
}
