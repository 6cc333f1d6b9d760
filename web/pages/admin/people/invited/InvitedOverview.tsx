import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { Note } from '../../../../components/ui/Chip.tsx'
import { Facts } from '../../../../components/ui/Facts.tsx'
import { Icon } from '../../../../components/ui/Icon.tsx'
import { useOperator } from '../../acting/operator.ts'
import type { Act } from '../ActDialog.tsx'
import { usePeopleMessages } from '../words.ts'

type Props = { identity: AdminIdentityDetails; onAct: (act: Act) => void }

/** Says what is known of an invited identity, which no account has, and offers to invite it again or to delete it. */
export function InvitedOverview({ identity: { identityId, groups }, onAct }: Props) {
  const { facts, no, invited, remove } = usePeopleMessages()
  const { may } = useOperator()
  return (
    <>
      <div class="pad stack">
        <Facts
          of={[
            { label: facts.id, value: <code>{identityId}</code> },
            { label: facts.groups, value: groups.length === 0 ? no : <code dir="ltr">{groups.join(' ')}</code> },
          ]}
          isRuled
        />
        <Note>{invited.what}</Note>
        {may('people.invite') && (
          <div class="row">
            <button type="button" class="button" data-action="ask-invite-again" onClick={() => onAct('invite')}>
              <Icon name="mail" size="sm" />
              {invited.open}
            </button>
          </div>
        )}
      </div>
      {may('people.delete') && (
        <div class="danger-row">
          <div>
            <strong>{remove.row}</strong>
            <p class="small soft">{invited.lost}</p>
          </div>
          <button type="button" class="button danger" data-action="ask-delete" onClick={() => onAct('delete')}>
            <Icon name="trash" size="sm" />
            {remove.open}
          </button>
        </div>
      )}
    </>
  )
}
