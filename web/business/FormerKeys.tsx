import type { OrganizationKey } from '@countersign/protocol/organization-keys'
import type { OwnOrganization } from '@countersign/protocol/organizations'
import { Refused } from '../call.ts'
import { dayOf } from '../dates.ts'
import { ActionButton, Actions } from '../ui/Actions.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { Problem } from '../ui/Problem.tsx'
import { useSpeech, useWords } from '../ui/Root.tsx'
import { useGuardedQuestion } from './asking.ts'
import { asMember } from './memberships.ts'
import { callBusiness } from './session.ts'
import { useBusinessWords } from './words.ts'

type Props = { keys: OrganizationKey[]; organization: OwnOrganization; onDeleted: () => unknown }

/** The keys before the one in force, which open what was encrypted with them until an owner deletes them. */
export function FormerKeys({ keys, organization, onDeleted }: Props) {
  const { keys: words } = useBusinessWords()
  const ended = keys.filter(({ endedAt }) => endedAt !== null)
  if (ended.length === 0) return null
  return (
    <section class="apart">
      <h2>{words.former}</h2>
      <ul class="entries">
        {ended.map((each) => (
          <FormerKey key={each.keyId} of={each} organization={organization} onDeleted={onDeleted} />
        ))}
      </ul>
    </section>
  )
}

type EntryProps = Omit<Props, 'keys'> & { of: OrganizationKey }

function FormerKey({ of: key, organization, onDeleted }: EntryProps) {
  const { keys: words } = useBusinessWords()
  const { language } = useSpeech()
  const doing = useDoing()
  const { keyId, version, createdAt } = key
  const question = useGuardedQuestion(`delete-${keyId}`)
  const ask: Action = { name: `delete-key-${version}`, label: words.remove, look: 'quiet', do: question.ask }
  return (
    <li class="entry">
      <div>
        <p>{words.inForce(version, dayOf(createdAt, language, new Date()))}</p>
        <Problem of={doing.problem} />
      </div>
      {organization.role === 'owner' && <ActionButton action={ask} doing={doing} />}
      {question.asked && <Delete of={key} organization={organization} onDeleted={onDeleted} onClose={question.close} />}
    </li>
  )
}

function Delete({ of: { keyId, version }, organization, onDeleted, onClose }: EntryProps & { onClose: () => void }) {
  const { keys: words } = useBusinessWords()
  const { frame } = useWords()
  const doing = useDoing()
  const remove: Action = {
    name: 'delete-key',
    label: words.removeNow,
    do: async () => {
      const { params, querystring } = asMember(organization)
      const given = { params: { ...params, keyId }, querystring, body: null }
      await callBusiness('DELETE /api/organizations/:organizationId/keys/:keyId', given).catch(acceptGone)
      onClose()
      await onDeleted()
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.removeTitle(version)} onClose={onClose}>
      <p>{words.removeWhat}</p>
      <Actions of={[remove, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Deleted already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'key_not_found')) throw error
}
