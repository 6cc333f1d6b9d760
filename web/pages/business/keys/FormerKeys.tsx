import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { ApiError } from '../../../lib/api/call.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { NamedLabel } from '../../../components/display/NamedLabel.tsx'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { act, signedOrUnsigned, type SignedAction } from '../session/acts.ts'
import { useReauthenticatedDialog } from '../session/session.ts'
import { memberContext } from '../session/membership.ts'
import { ConfirmDialog } from '../session/ConfirmDialog.tsx'
import { useBusinessMessages } from '../words.ts'
import { Card } from '../../../components/ui/Card.tsx'

type Props = { keys: OrganizationKey[]; organization: OwnOrganization; onDeleted: () => unknown }

/** Lists the previous keys. They decrypt what was encrypted with them until an owner deletes them. */
export function PreviousKeys({ keys, organization, onDeleted }: Props) {
  const { keys: words } = useBusinessMessages()
  const ended = keys.filter(({ endedAt }) => endedAt !== null)
  if (ended.length === 0) return null
  return (
    <Card title={words.former}>
      <ul class="entries">
        {ended.map((each) => (
          <FormerKey key={each.keyId} of={each} organization={organization} onDeleted={onDeleted} />
        ))}
      </ul>
    </Card>
  )
}

type EntryProps = Omit<Props, 'keys'> & { of: OrganizationKey }

function FormerKey({ of: { keyId, version, createdAt }, organization, onDeleted }: EntryProps) {
  const { keys: words } = useBusinessMessages()
  const { language } = useLocale()
  const doing = useActions()
  const question = useReauthenticatedDialog(`delete-${keyId}`)
  const removeBy = async (how: SignedAction) => {
    const { params, querystring } = memberContext(organization)
    const given = { params: { ...params, keyId }, querystring, body: null }
    await how('DELETE /api/organizations/:organizationId/keys/:keyId', given).catch(acceptGone)
    question.close()
    await onDeleted()
  }
  const text = words.inForce(version, dayOf(createdAt, language, new Date()))
  const remove: Action = {
    name: `delete-key-${version}`,
    label: <NamedLabel label={words.remove} of={text} />,
    look: 'quiet',
    do: () => signedOrUnsigned(removeBy, question.open),
  }
  const agree: Action = { name: 'delete-key', label: words.removeNow, do: () => removeBy(act) }
  return (
    <li class="entry">
      <div>
        <p>{text}</p>
        <ErrorMessage of={doing.problem} />
      </div>
      {organization.role === 'owner' && <ActionButton action={remove} doing={doing} />}
      {question.isOpen && (
        <ConfirmDialog title={words.removeTitle(version)} agree={agree} onClose={question.close}>
          {words.removeWhat}
        </ConfirmDialog>
      )}
    </li>
  )
}

/** Ignores that the key was already deleted from another tab. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'key_not_found')) throw error
}
