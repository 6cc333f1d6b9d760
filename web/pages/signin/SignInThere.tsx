import type { OrganizationChoice } from '@countersign/protocol/organizations/organization-context'
import { startSso } from '../../lib/start-sso.ts'
import { Actions } from '../../components/form/Actions.tsx'
import type { Action, Doing } from '../../components/form/doing.ts'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'

type Props = {
  organization: OrganizationChoice
  doing: Doing
  onChange: () => Promise<void>
  onDeny: () => Promise<void>
}

/** The organization asks its members to sign in with its own provider; from there they come back to this request. */
export function SignInThere({ organization, doing, onChange, onDeny }: Props) {
  const { signin: words, frame } = useWords()
  const { id, name, loginUrl = '' } = organization
  const actions: Action[] = [
    { name: 'sign-in-there', label: words.continueWith(name), do: () => startSso(loginUrl, { returnTo: hereFor(id) }) },
    { name: 'change', label: words.change, look: 'quiet', do: onChange },
    { name: 'deny', label: frame.cancel, look: 'quiet', do: onDeny },
  ]
  return (
    <>
      <StepHeading level={2}>{words.asksForItsOwn(name)}</StepHeading>
      <Actions of={actions} doing={doing} />
    </>
  )
}

/** The address of this very request, for the organization that was chosen here. */
function hereFor(organizationId: string): string {
  const here = new URL(location.href)
  if (here.searchParams.has('organization_id')) here.searchParams.set('organization_id', organizationId)
  return here.href
}
