import { useEffect, useState } from 'preact/hooks'
import type { AccountInvitationPreview } from '@countersign/protocol/accounts/invitations'
import type { Site } from '@countersign/protocol/pages'
import { ApiError, call } from '../../lib/api/call.ts'
import { readPageData, readSiteSettings } from '../../lib/page-data.ts'
import type { IdentityDraft } from '../../lib/text/identity-draft.ts'

/** What permits the registration: the secret of the link by which the user came. */
export type Admission = { setup?: string; invitation?: string }

/** Why the user cannot register by their link. */
export type Refusal =
  | 'registration_closed'
  | 'invitation_required'
  | 'setup_done'
  | 'setup_link_expired'
  | 'invitation_expired'

const refusals: readonly string[] = ['setup_done', 'setup_link_expired', 'invitation_expired'] satisfies Refusal[]

/** Reads the secret from the fragment of the page, which browsers send to no server. */
export function readAdmission(): Admission {
  const secret = location.hash.slice(1)
  if (readPageData('register').setup) return { setup: secret }
  return secret.startsWith('cs_inv_') ? { invitation: secret } : {}
}

/** Checks the link once. If the server cannot be reached, the registration reports it. */
export function useOffer(admission: Admission, introduce: (names: Names, areFixed: boolean) => void) {
  const { setup, invitation } = admission
  const [offer, setOffer] = useState<AccountInvitationPreview>()
  const [refusal, setRefusal] = useState(() => refusalOf(admission, readSiteSettings()))
  useEffect(() => {
    async function check() {
      if (setup) await call('POST /api/setup/check', { body: { setup } })
      if (invitation === undefined) return
      const found = await call('POST /api/auth/register/invitation', { body: { invitation } })
      setOffer(found)
      introduce({ handle: found.handle ?? '', displayName: found.displayName ?? '' }, found.areNamesFixed)
    }
    check().catch((error: unknown) => {
      if (error instanceof ApiError && isRefusal(error.code)) setRefusal(error.code)
    })
  }, [])
  return { offer, refusal }
}

/** Returns why the user cannot register, as far as the page knows without a request. */
export function refusalOf(
  { setup, invitation }: Admission,
  { registration }: Pick<Site, 'registration'>,
): Refusal | undefined {
  if (setup === '') return 'setup_link_expired'
  if (setup !== undefined || registration === 'open' || registration === 'domains') return undefined
  if (registration === 'closed') return 'registration_closed'
  return invitation === undefined ? 'invitation_required' : undefined
}

/** Returns whether the user proves an address before anything else. */
export function needsEmail({ setup, invitation }: Admission, { registration }: Pick<Site, 'registration'>): boolean {
  return registration === 'domains' && setup === undefined && invitation === undefined
}

type Names = Pick<IdentityDraft, 'handle' | 'displayName'>

function isRefusal(code: string): code is Refusal {
  return refusals.includes(code)
}
