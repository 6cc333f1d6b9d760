import { useState } from 'preact/hooks'
import type { SectionProps } from '../OrganizationPage.tsx'
import { hasKeptInput } from '../session/kept-input.ts'
import { type Rest, takeRest } from './invitees.ts'

type Inviting = { rest: Rest | undefined; inviting: boolean; setInviting: (inviting: boolean) => void }

/**
 * Returns whether the dialog of invitations is open. Members who sign come back to the page after each invitation: the
 * dialog then opens for those that are still to be made, or with the input of one that they did not sign.
 */
export function useInviting({ organization, returned }: Pick<SectionProps, 'organization' | 'returned'>): Inviting {
  const [rest] = useState(() => {
    // The rest of an invitation that was not signed does not outlast it: its names are among the kept input.
    const noted = takeRest(organization.id)
    return returned?.outcome === 'done' && returned.action === 'organization.invitation.created' ? noted : undefined
  })
  const [inviting, setInviting] = useState(() => rest !== undefined || hasKeptInput('invite'))
  return { rest, inviting, setInviting }
}
