import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OwnRecoveryLink } from '@countersign/protocol/accounts/recovery/links'
import type { OwnInvitation } from '@countersign/protocol/organizations/invitations'
import type { ResponseOf } from '@countersign/protocol/api'
import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { showUser } from '../../components/frame/shown-user.ts'
import { call } from '../../lib/api/call.ts'
import { isSignInRequired, type Session } from '../../lib/session/session.ts'
import { fetchDelegations } from './apps/delegation-list.ts'
import { mayBeRecovered } from './home/former-passkeys.ts'
import { fetchPendingItems } from './pending-items.ts'
import type { Pending } from './signing/pending.ts'

/** The data of all sections, loaded at once, so that switching between sections loads nothing. */
export type AccountData = {
  session: Session
  passkeys: ResponseOf<'GET /api/auth/passkeys'>['passkeys']
  sessions: ResponseOf<'GET /api/auth/sessions'>['sessions']
  /**
   * `recoverySince`: when the current recovery code was created, null if there is none. A used code may still unlock
   * the keys.
   */
  recoverySince: string | null
  codeOpensKeys: boolean
  /** When the account was last recovered, if that was lately; null otherwise. */
  recoveredAt: string | null
  authorizations: ResponseOf<'GET /api/oauth/authorizations'>['authorizations']
  /** The user's delegations, and those that ended recently. */
  delegations: Delegation[]
  signingKeys: ResponseOf<'GET /api/signing/keys'>['keys']
  /** The signing requests that wait for the user. */
  pending: Pending
  /** The other devices that request to be unlocked. */
  devices: ResponseOf<'GET /api/account/device-approvals'>['devices']
  /** The recoveries of the account that can be stopped or undone. */
  recoveries: OwnRecoveryLink[]
  /** The open invitations to organizations. */
  invitations: OwnInvitation[]
}

/** New data, or what makes it of the current one. */
export type DataChange = AccountData | ((current: AccountData) => AccountData)

/** Returns the data with these identities, and without what belonged to others alone: these were deleted. */
export function withIdentities(data: AccountData, identities: Identity[]): AccountData {
  const isLeft = (id: string) => identities.some(({ identityId }) => identityId === id)
  const belongs = ({ identityId }: { identityId: string }) => isLeft(identityId)
  return {
    ...data,
    session: { ...data.session, identities },
    authorizations: data.authorizations.filter(belongs),
    delegations: data.delegations.filter(belongs),
    signingKeys: data.signingKeys.filter(belongs),
    recoveries: data.recoveries.filter(belongs),
    invitations: data.invitations
      .map((invitation) => ({ ...invitation, identityIds: invitation.identityIds.filter(isLeft) }))
      .filter(({ identityIds }) => identityIds.length > 0),
  }
}

/** What each section gets: the data, and how to change it. */
export type SectionProps = { data: AccountData; onChange: (change: DataChange) => void }

/**
 * Reads the data of all sections, the session first. Returns undefined if no user is signed in, and `limited` if a
 * recovery limits the session to one identity.
 */
export async function readAccountData(
  onSession: (session: Session) => void,
): Promise<AccountData | 'limited' | undefined> {
  try {
    const session = await call('GET /api/auth/session', {})
    showUser(session.user)
    onSession(session)
    if (session.authMethod === 'recovered_passkey') return 'limited'
    const readingPasskeys = call('GET /api/auth/passkeys', {})
    const [
      { passkeys },
      recoveredAt,
      { sessions },
      recovery,
      { keyWraps },
      { authorizations },
      delegations,
      { keys },
      news,
      invitations,
      { recoveryLinks },
    ] = await Promise.all([
      readingPasskeys,
      fetchRecoveredAt(readingPasskeys),
      call('GET /api/auth/sessions', {}),
      call('GET /api/account/recovery', {}),
      call('GET /api/account/key-wraps', {}),
      call('GET /api/oauth/authorizations', {}),
      fetchDelegations(),
      call('GET /api/signing/keys', {}),
      fetchPendingItems(),
      fetchInvitations(session),
      call('GET /api/account/recovery-links', {}),
    ])
    return {
      session,
      passkeys,
      recoveredAt,
      sessions,
      recoverySince: recovery.createdAt,
      codeOpensKeys: keyWraps.some(({ kind }) => kind === 'recovery_code'),
      authorizations,
      delegations,
      signingKeys: keys,
      ...news,
      invitations,
      recoveries: recoveryLinks,
    }
  } catch (error) {
    if (isSignInRequired(error)) return undefined
    throw error
  }
}

async function fetchInvitations({ authMethod }: Session): Promise<OwnInvitation[]> {
  // A session that SSO opened is of one organization, and joins no other.
  if (authMethod !== 'passkey') return []
  return (await call('GET /api/account/invitations', {})).invitations
}

/** A recovery adds a passkey. Most accounts have no new one besides others, and need no look at their activity. */
async function fetchRecoveredAt(reading: Promise<Pick<AccountData, 'passkeys'>>): Promise<string | null> {
  if (!mayBeRecovered((await reading).passkeys, new Date())) return null
  const { entries } = await call('GET /api/account/activity', { querystring: { kind: 'security', limit: '100' } })
  return entries.find(({ action }) => action === 'account.recovered')?.at ?? null
}
