import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../../lib/api/call.ts'
import { startSso } from '../../../lib/session/start-sso.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { Spinner } from '../../../components/display/Facts.tsx'
import { skipSignature } from '../session/acts.ts'
import { ConfirmDialog } from '../session/ConfirmDialog.tsx'
import { removeMember } from '../members/RemoveMember.tsx'
import { callBusiness } from '../session/session.ts'
import { useBusinessMessages } from '../words.ts'

type Props = {
  organization: OwnOrganization
  identities: Identity[]
  /** Called with the identity that has access. */
  onEntered: (identityId: string) => void
  /** Called if this member of the user was removed. */
  onLeft: (memberId: string) => void
  children: ComponentChildren
}

/** Whether the user has signed in with the organization's SSO, and otherwise the URL that starts the login. */
type Entry = { at: 'inside' } | { at: 'outside'; loginUrl: string }

/** Shows the organization. If it requires SSO, the login comes first, and returns here. */
export function OrganizationSsoPrompt({ organization, onEntered, children, ...others }: Props) {
  const words = useBusinessMessages()
  const doing = useActions()
  // Owners may enter without SSO, which is recorded in the audit log. Therefore no call is made to find out.
  const mayRequireSso = organization.ssoRequired && organization.role !== 'owner'
  const [entry, setEntry] = useState<Entry | undefined>(mayRequireSso ? undefined : { at: 'inside' })
  const enter: Action = {
    name: 'retry',
    label: words.retry,
    do: async () => setEntry(await readEntry(organization, onEntered)),
  }
  useEffect(() => void (entry === undefined && doing.perform(enter)), [])
  if (entry?.at === 'inside') return <>{children}</>
  if (entry === undefined) return doing.problem === undefined ? <Spinner /> : <Actions of={[enter]} doing={doing} />
  return <Outside organization={organization} loginUrl={entry.loginUrl} {...others} />
}

type OutsideProps = Pick<Props, 'organization' | 'identities' | 'onLeft'> & { loginUrl: string }

/** Asks for a login with SSO. Users can leave the organization here, in case they cannot sign in with SSO any more. */
function Outside({ organization, identities, loginUrl, onLeft }: OutsideProps) {
  const words = useBusinessMessages()
  const { signin } = useMessages()
  const doing = useActions()
  const [isConfirming, setIsConfirming] = useState(false)
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
    do: () => setIsConfirming(true),
  }
  const agree: Action = {
    name: 'leave-organization',
    label: words.leaveNow,
    do: async () => {
      await removeMember(skipSignature, organization, { member: organization, leaving: true })
      setIsConfirming(false)
      onLeft(memberId)
    },
  }
  return (
    <section class="step">
      <StepHeading>{signin.requiresSso(name)}</StepHeading>
      <Actions of={[there, leave]} doing={doing} />
      {isConfirming && (
        <ConfirmDialog title={words.leaveTitle(name)} agree={agree} onClose={() => setIsConfirming(false)}>
          {words.leaveWhat}
        </ConfirmDialog>
      )}
    </section>
  )
}

/** Finds out which identity has access: the one of the SSO session, not the one with the highest role. */
async function readEntry({ id }: OwnOrganization, onEntered: Props['onEntered']): Promise<Entry> {
  try {
    const given = { params: { organizationId: id }, querystring: {} }
    const { organization } = await callBusiness('GET /api/organizations/:organizationId', given)
    onEntered(organization.identityId)
    return { at: 'inside' }
  } catch (error) {
    const requiresSso = error instanceof ApiError && error.code === 'enterprise_sso_required'
    if (!requiresSso || typeof error.fields['loginUrl'] !== 'string') throw error
    return { at: 'outside', loginUrl: error.fields['loginUrl'] }
  }
}
