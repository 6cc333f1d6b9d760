import type { OwnInvitation } from '@countersign/protocol/organizations/invitations'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { useAccountWords, useLocale } from '../words.ts'

/** The open invitations to organizations, if there are any. */
export function InvitationCard({ invitations }: { invitations: OwnInvitation[] }) {
  const words = useAccountWords().home.invitations
  if (invitations.length === 0) return null
  return (
    <Card
      accent
      flush
      title={
        <>
          {words.title} <span class="count">{invitations.length}</span>
        </>
      }
    >
      <ul class="list">
        {invitations.map((invitation) => (
          <Entry key={invitation.invitationId} of={invitation} />
        ))}
      </ul>
    </Card>
  )
}

/** One invitation. The page of organizations asks for the answer. */
function Entry({ of: { organizationId, organization, invitedBy, role, email, expiresAt, canJoin } }: EntryProps) {
  const { invitations: words, roles } = useAccountWords().home
  const { language } = useLocale()
  const inviter = `${invitedBy.displayName} (@${invitedBy.handle})`
  return (
    <li>
      <Avatar kind="organization" name={organization.name} picture={organization.logoUrl} toneOf={organizationId} />
      <div class="body">
        <strong>{words.as(organization.name, roles[role])}</strong>
        <small>{words.from(inviter, dayOf(expiresAt, language, new Date()))}</small>
        {!canJoin && email !== null && <small>{words.byMail(email)}</small>}
      </div>
      <div class="acts">
        <a
          class="button"
          data-action="answer-invitation"
          href={`${readSiteSettings().businessUrl}/organizations`}
          aria-label={words.answerOne(organization.name)}
        >
          {words.answer}
        </a>
      </div>
    </li>
  )
}

type EntryProps = { of: OwnInvitation }
