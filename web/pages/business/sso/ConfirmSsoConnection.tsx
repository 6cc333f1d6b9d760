import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { act, signedOr, type Act } from '../session/acts.ts'
import { useGuardedQuestion } from '../session/asking.ts'
import type { aboutConnection } from '../session/memberships.ts'
import { Question } from '../session/Question.tsx'
import { useBusinessWords } from '../words.ts'

type Props = { of: SsoConnection; given: ReturnType<typeof aboutConnection>; onChanged: () => unknown }

/** Lets an owner confirm a connection, which then counts where everybody must sign in with SSO. */
export function ConfirmSsoConnection({ of: { connectionId, name, testedAt, oidc, saml }, given, onChanged }: Props) {
  const { sso: words } = useBusinessWords()
  const doing = useDoing()
  const question = useGuardedQuestion(`confirm-${connectionId}`)
  const confirmBy = async (how: Act) => {
    await how('POST /api/organizations/:organizationId/sso-connections/:connectionId/confirm', { ...given, body: null })
    question.close()
    await onChanged()
  }
  const confirm: Action = {
    name: `confirm-${connectionId}`,
    label: words.confirm,
    look: testedAt === null ? 'secondary' : 'primary',
    do: () => signedOr(confirmBy, question.ask),
  }
  const agree: Action = { name: 'confirm-connection', label: words.confirm, do: () => confirmBy(act) }
  return (
    <>
      <Actions of={[confirm]} doing={doing} />
      {question.asked && (
        <Question title={words.confirmQuestion(name)} agree={agree} onClose={question.close}>
          {words.confirmWhat(oidc?.issuer ?? saml?.entityId ?? '')}
        </Question>
      )}
    </>
  )
}
