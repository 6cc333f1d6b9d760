import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { NamedLabel } from '../../../components/display/NamedLabel.tsx'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { act, signedOrUnsigned, type SignedAction } from '../session/acts.ts'
import { useReauthenticatedDialog } from '../session/session.ts'
import type { connectionRef } from '../session/membership.ts'
import { ConfirmDialog } from '../session/ConfirmDialog.tsx'
import { useBusinessMessages } from '../words.ts'

type Props = { of: SsoConnection; given: ReturnType<typeof connectionRef>; onChanged: () => unknown }

/** Lets an owner confirm a connection. Only confirmed connections count if SSO is required. */
export function ConfirmSsoConnection({ of: { connectionId, name, testedAt, oidc, saml }, given, onChanged }: Props) {
  const { sso: words } = useBusinessMessages()
  const doing = useActions()
  const question = useReauthenticatedDialog(`confirm-${connectionId}`)
  const confirmBy = async (how: SignedAction) => {
    await how('POST /api/organizations/:organizationId/sso-connections/:connectionId/confirm', { ...given, body: null })
    question.close()
    await onChanged()
  }
  const confirm: Action = {
    name: `confirm-${connectionId}`,
    label: <NamedLabel label={words.confirm} of={name} />,
    look: testedAt === null ? 'secondary' : 'primary',
    do: () => signedOrUnsigned(confirmBy, question.open),
  }
  const agree: Action = { name: 'confirm-connection', label: words.confirm, do: () => confirmBy(act) }
  return (
    <>
      <Actions of={[confirm]} doing={doing} />
      {question.isOpen && (
        <ConfirmDialog title={words.confirmQuestion(name)} agree={agree} onClose={question.close}>
          {words.confirmWhat(oidc?.issuer ?? saml?.entityId ?? '')}
        </ConfirmDialog>
      )}
    </>
  )
}
