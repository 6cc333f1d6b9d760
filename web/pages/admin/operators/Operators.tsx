import type { Operator } from '@countersign/protocol/accounts/operators'
import { useState } from 'preact/hooks'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { Menu } from '../../../components/ui/Menu.tsx'
import { Tabs } from '../../../components/ui/Tabs.tsx'
import { dayOf } from '../../../lib/text/dates.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { useOperator } from '../acting/operator.ts'
import { Reading } from '../reading/Reading.tsx'
import { useReading } from '../reading/use-reading.ts'
import { routePath, type SectionProps } from '../routes.ts'
import { useAdminMessages } from '../words.ts'
import { Directories } from './Directories.tsx'
import { AddOperator, ChangeRole, RemoveOperator } from './OperatorDialogs.tsx'
import { Tokens } from './Tokens.tsx'
import { useOperatorsMessages } from './words.ts'

/** Lists the operators, the admin tokens and the directories. */
export function Operators({ place, goTo }: SectionProps) {
  const words = useOperatorsMessages()
  const parts = [
    { id: undefined, label: words.title, name: 'operators' },
    { id: 'tokens', label: words.tokens.title, name: 'tokens' },
    { id: 'directories', label: words.directories.title, name: 'directories' },
  ]
  const shown = parts.find(({ id }) => id === place.id)?.name
  const tabs = parts.map(({ id, label, name }) => {
    const to = { section: 'operators', id } as const
    return {
      label,
      href: routePath(to),
      current: name === (shown ?? 'operators'),
      onFollow: () => goTo(to),
      action: `tab-${name}`,
    }
  })
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Tabs label={words.title} tabs={tabs} />
      {shown === 'tokens' ? <Tokens /> : shown === 'directories' ? <Directories /> : <OperatorList />}
    </>
  )
}

type DialogState = 'add' | { about: 'change' | 'remove'; operator: Operator }

function OperatorList() {
  const words = useOperatorsMessages()
  const { ask, may, operator: own } = useOperator()
  const [dialog, setDialog] = useState<DialogState>()
  const operators = useReading(async () => (await ask('GET /api/admin/operators', {})).operators, [])
  const close = () => setDialog(undefined)
  const refresh = (changed?: Operator) => {
    close()
    // The rights of this page have changed with the role.
    if (changed?.identityId === own.identityId) location.reload()
    else operators.again()
  }
  return (
    <Card
      flush
      title={words.title}
      actions={
        may('operators.manage') && (
          <button type="button" class="button" data-action="ask-add-operator" onClick={() => setDialog('add')}>
            <Icon name="user-plus" size="sm" />
            {words.add}
          </button>
        )
      }
    >
      <Reading of={operators}>
        {(found) => (
          <ul class="list">
            {found.map((operator) => (
              <OperatorRow
                key={operator.identityId}
                operator={operator}
                onAsk={(about) => setDialog({ about, operator })}
              />
            ))}
          </ul>
        )}
      </Reading>
      {dialog === 'add' && <AddOperator onDone={() => refresh()} onClose={close} />}
      {typeof dialog === 'object' && dialog.about === 'change' && (
        <ChangeRole operator={dialog.operator} onDone={() => refresh(dialog.operator)} onClose={close} />
      )}
      {typeof dialog === 'object' && dialog.about === 'remove' && (
        <RemoveOperator operator={dialog.operator} onDone={() => refresh(dialog.operator)} onClose={close} />
      )}
    </Card>
  )
}

function OperatorRow({ operator, onAsk }: { operator: Operator; onAsk: (about: 'change' | 'remove') => void }) {
  const words = useOperatorsMessages()
  const { roles } = useAdminMessages()
  const { language } = useLocale()
  const { may } = useOperator()
  const { displayName, handle, role, grantedAt } = operator
  return (
    <li>
      <Avatar name={displayName} toneOf={handle} size="sm" />
      <div class="body">
        <strong>
          {displayName} <Chip tone={role === 'owner' ? 'pen' : 'mute'}>{roles[role]}</Chip>
        </strong>
        <small>
          {atHandle(handle)} · {words.since(dayOf(grantedAt, language, new Date()))}
        </small>
      </div>
      {may('operators.manage') && (
        <div class="acts">
          <Menu
            label={words.actions(isolate(displayName))}
            action="operator-menu"
            items={[
              { label: words.change, icon: 'pencil', action: 'ask-change-operator', onChoose: () => onAsk('change') },
              {
                label: words.remove,
                icon: 'user-x',
                danger: true,
                action: 'ask-remove-operator',
                onChoose: () => onAsk('remove'),
              },
            ]}
          />
        </div>
      )}
    </li>
  )
}
