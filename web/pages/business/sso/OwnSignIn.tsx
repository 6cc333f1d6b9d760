import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Refused } from '../../../lib/call.ts'
import { startSso } from '../../../lib/start-sso.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useWords } from '../../../components/frame/Root.tsx'
import { StepHeading } from '../../../components/frame/StepHeading.tsx'
import { Waiting } from '../../../components/display/Waiting.tsx'
import { leaveUnsigned } from '../session/acts.ts'
import { Question } from '../session/Question.tsx'
import { removeMember } from '../members/removal.ts'
import { callBusiness } from '../session/session.ts'
import { useBusinessWords } from '../words.ts'

type Props = {
  organization: OwnOrganization
  identities: Identity[]
  /** As which of the person's names they are let in. */
  onEntered: (identityId: string) => void
  /** This name of the person is no longer in it. */
  onLeft: (memberId: string) => void
  children: ComponentChildren
}

/** Whether the person has come through the organization's own sign-in, or where that begins. */
type Entry = { at: 'inside' } | { at: 'outside'; loginUrl: string }

/** What is inside an organization; where it asks for its own sign-in, that comes first, and leads back here. */
export function OwnSignIn({ organization, onEntered, children, ...others }: Props) {
  const words = useBusinessWords()
  const doing = useDoing()
  // Owners are let in without it, and the trail tells of that: no call is made to find it out.
  const mayBeAsked = organization.ssoRequired && organization.role !== 'owner'
  const [entry, setEntry] = useState<Entry | undefined>(mayBeAsked ? undefined : { at: 'inside' })
  const enter: Action = {
    name: 'retry',
    label: words.retry,
    do: async () => setEntry(await readEntry(organization, onEntered)),
  }
  useEffect(() => void (entry === undefined && doing.perform(enter)), [])
  if (entry?.at === 'inside') return <>{children}</>
  if (entry === undefined) return doing.problem === undefined ? <Waiting /> : <Actions of={[enter]} doing={doing} />
  return <Outside organization={organization} loginUrl={entry.loginUrl} {...others} />
}

type OutsideProps = Pick<Props, 'organization' | 'identities' | 'onLeft'> & { loginUrl: string }

/** Where one signs in there, or leaves: who can't sign in there any more is not kept in. */
function Outside({ organization, identities, loginUrl, onLeft }: OutsideProps) {
  const words = useBusinessWords()
  const { signin } = useWords()
  const doing = useDoing()
  const [isAsked, setAsked] = useState(false)
  const { name, memberId, identityId } = organization
  const handle = identities.find((each) => each.identityId === identityId)?.handle ?? ''
  const there: Action = {
    name: 'sign-in-there',
    label: signin.continueWith(name),
    do: () => startSso(loginUrl, { returnTo: location.href }),
  }
  const leave: Action = {
    name: 'leave',
    label: words.ask.leave(handle),
    look: 'quiet',
    do: () => setAsked(true),
  }
  const agree: Action = {
    name: 'leave-organization',
    label: words.leaveNow,
    do: async () => {
      await removeMember(leaveUnsigned, organization, { member: organization, leaving: true })
      setAsked(false)
      onLeft(memberId)
    },
  }
  return (
    <section class="step">
      <StepHeading>{signin.asksForItsOwn(name)}</StepHeading>
      <Actions of={[there, leave]} doing={doing} />
      {isAsked && (
        <Question title={words.leaveTitle(name)} agree={agree} onClose={() => setAsked(false)}>
          {words.leaveWhat}
        </Question>
      )}
    </section>
  )
}

/** Whoever is in it as several names is let in as the one that it has named, whichever has the highest role. */
async function readEntry({ id }: OwnOrganization, onEntered: Props['onEntered']): Promise<Entry> {
  try {
    const given = { params: { organizationId: id }, querystring: {} }
    const { organization } = await callBusiness('GET /api/organizations/:organizationId', given)
    onEntered(organization.identityId)
    return { at: 'inside' }
  } catch (error) {
    const asks = error instanceof Refused && error.code === 'enterprise_sso_required'
    if (!asks || typeof error.fields['loginUrl'] !== 'string') throw error
    return { at: 'outside', loginUrl: error.fields['loginUrl'] }
  }
}
