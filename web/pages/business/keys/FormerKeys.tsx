import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { Refused } from '../../../lib/call.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Problem } from '../../../components/form/Problem.tsx'
import { useSpeech } from '../../../components/frame/Root.tsx'
import { act, signedOr, type Act } from '../session/acts.ts'
import { useGuardedQuestion } from '../session/asking.ts'
import { asMember } from '../session/memberships.ts'
import { Question } from '../session/Question.tsx'
import { useBusinessWords } from '../words.ts'

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

function FormerKey({ of: { keyId, version, createdAt }, organization, onDeleted }: EntryProps) {
  const { keys: words } = useBusinessWords()
  const { language } = useSpeech()
  const doing = useDoing()
  const question = useGuardedQuestion(`delete-${keyId}`)
  const removeBy = async (how: Act) => {
    const { params, querystring } = asMember(organization)
    const given = { params: { ...params, keyId }, querystring, body: null }
    await how('DELETE /api/organizations/:organizationId/keys/:keyId', given).catch(acceptGone)
    question.close()
    await onDeleted()
  }
  const remove: Action = {
    name: `delete-key-${version}`,
    label: words.remove,
    look: 'quiet',
    do: () => signedOr(removeBy, question.ask),
  }
  const agree: Action = { name: 'delete-key', label: words.removeNow, do: () => removeBy(act) }
  return (
    <li class="entry">
      <div>
        <p>{words.inForce(version, dayOf(createdAt, language, new Date()))}</p>
        <Problem of={doing.problem} />
      </div>
      {organization.role === 'owner' && <ActionButton action={remove} doing={doing} />}
      {question.asked && (
        <Question title={words.removeTitle(version)} agree={agree} onClose={question.close}>
          {words.removeWhat}
        </Question>
      )}
    </li>
  )
}

/** Deleted already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'key_not_found')) throw error
}
