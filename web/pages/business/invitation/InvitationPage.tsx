import type { Identity } from '@countersign/protocol/accounts/identities'
import { scopesOfRole } from '@countersign/protocol/formats/role'
import type { InvitationPreview, PublicInvitation } from '@countersign/protocol/organizations/invitations'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { PageLayout, StepHeading } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { showUser } from '../../../components/frame/shown-user.ts'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Skeleton } from '../../../components/ui/Card.tsx'
import { type Fact, Facts, Permits } from '../../../components/ui/Facts.tsx'
import { callOpenly } from '../../../lib/api/business-call.ts'
import { ApiError } from '../../../lib/api/call.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { fetchOwnSession } from '../../../lib/session/session.ts'
import { dayOf, formatDuration } from '../../../lib/text/dates.ts'
import { callBusiness } from '../session/session.ts'
import { useBusinessMessages } from '../words.ts'
import { noteIntent } from './intent.ts'
import { Join } from './Join.tsx'
import { useInvitationMessages } from './words.ts'
import { atHandle } from '../../../lib/text/handle.ts'

type Props = { token: string; onJoined: (organization: OwnOrganization) => void }

type State =
  | { at: 'over' }
  | { at: 'signed-out'; invitation: PublicInvitation }
  | { at: 'signed-in'; invitation: InvitationPreview; identities: Identity[] }

/** Shows an invitation to users who have its link, and lets them join: with a new account, or one that they have. */
export function InvitationPage({ token, onJoined }: Props) {
  const words = useInvitationMessages()
  const { retry, title } = useBusinessMessages()
  const doing = useActions()
  const [state, setState] = useState<State>()
  const read: Action = { name: 'retry', label: retry, do: async () => setState(await readState(token)) }
  useEffect(() => void doing.perform(read), [])
  if (state === undefined)
    return (
      <PageLayout title={title} step="loading" where>
        {doing.problem === undefined ? <Skeleton rows={3} /> : <Actions of={[read]} doing={doing} />}
      </PageLayout>
    )
  if (state.at === 'over')
    return (
      <PageLayout title={words.over} where>
        <StepHeading>{words.over}</StepHeading>
        <p class="lead">{words.overWhat}</p>
        <div class="stack">
          <a class="button block" href="/organizations">
            {words.organizations}
          </a>
        </div>
      </PageLayout>
    )
  return (
    <PageLayout title={words.title(state.invitation.organization.name)} where>
      <Offer invitation={state.invitation}>
        {state.at === 'signed-out' ? (
          <SignedOut token={token} invitation={state.invitation} />
        ) : (
          <Join token={token} invitation={state.invitation} identities={state.identities} onJoined={onJoined} />
        )}
      </Offer>
    </PageLayout>
  )
}

/** Who invites into what, as what, and until when. */
function Offer({ invitation, children }: { invitation: PublicInvitation; children: ComponentChildren }) {
  const words = useInvitationMessages()
  const { roles, rolesWhat, scopes } = useBusinessMessages()
  const { language } = useLocale()
  const { organization, invitedBy, role, email, handle, expiresAt } = invitation
  const left = formatDuration(Date.parse(expiresAt) - Date.now(), language)
  const facts: Fact[] = [
    { label: words.sentTo, value: email ?? atHandle(handle ?? '') },
    { label: words.role, value: roles[role], note: rolesWhat[role] },
    { label: words.expires, value: words.expiresIn(left, dayOf(expiresAt, language, new Date())) },
  ]
  const permits = scopesOfRole[role].map((scope) => ({ key: scope, text: scopes[scope], isAllowed: true }))
  return (
    <>
      <div class="invite-head">
        <Avatar
          kind="organization"
          name={organization.name}
          picture={organization.logoUrl}
          toneOf={organization.id}
          size="lg"
        />
        <div class="stack tight">
          <StepHeading>{words.title(organization.name)}</StepHeading>
          <p class="lead">{words.invites(invitedBy.displayName, roles[role])}</p>
        </div>
      </div>
      <div class="card quote">
        <Person
          avatar={<Avatar name={invitedBy.displayName} picture={invitedBy.avatarUrl} toneOf={invitedBy.handle} />}
          name={invitedBy.displayName}
          detail={atHandle(invitedBy.handle)}
        />
      </div>
      <Facts of={facts} isRuled />
      <Permits of={permits} />
      {children}
      <p class="small soft">{words.ignore}</p>
    </>
  )
}

function SignedOut({ token, invitation: { email, provesEmail } }: { token: string; invitation: PublicInvitation }) {
  const words = useInvitationMessages()
  const { authUrl } = readSiteSettings()
  const back = encodeURIComponent(`${location.origin}${location.pathname}`)
  const note = () => noteIntent({ token })
  return (
    <>
      {email !== null && provesEmail && <p class="small soft">{words.provesEmail(email)}</p>}
      <div class="stack">
        <a
          class="button primary big block"
          data-action="register-and-join"
          href={`${authUrl}/register?return=${back}`}
          onClick={note}
        >
          {words.register}
        </a>
        <a
          class="button big block"
          data-action="sign-in-and-join"
          href={`${authUrl}/login?return=${back}`}
          onClick={note}
        >
          {words.login}
        </a>
      </div>
    </>
  )
}

async function readState(token: string): Promise<State> {
  try {
    const session = await fetchOwnSession()
    showUser(session?.user)
    const given = { params: { token } }
    if (!session) {
      const { invitation } = await callOpenly('GET /api/invitations/:token/preview', given)
      return { at: 'signed-out', invitation }
    }
    const { invitation } = await callBusiness('GET /api/invitations/:token', given)
    return { at: 'signed-in', invitation, identities: session.identities }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invitation_not_found') return { at: 'over' }
    throw error
  }
}
