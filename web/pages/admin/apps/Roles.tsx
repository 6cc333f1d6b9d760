import type { AppRoles } from '@countersign/protocol/clients/roles'
import { useState } from 'preact/hooks'
import { toast } from '../../../components/frame/toast.ts'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { Menu } from '../../../components/ui/Menu.tsx'
import { atHandle } from '../../../lib/text/handle.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { joinNames } from '../../../lib/text/lists.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { EditRole } from './EditRole.tsx'
import { hasRole, rolesOf, type RoleView, withoutRole } from './role-view.ts'
import { type Replacing, useReplacement } from './use-replacement.ts'
import { useAppsMessages } from './words.ts'

type DialogState = 'add' | { about: 'edit' | 'remove'; role: RoleView }

/** The roles of an app, and who has them. */
export function Roles(replacing: Replacing) {
  const { roles: words } = useAppsMessages()
  const { may } = useOperator()
  const shown = rolesOf(replacing.of)
  const [dialog, setDialog] = useState<DialogState>()
  const close = () => setDialog(undefined)
  const mayManage = may('apps.manage')
  return (
    <Card
      flush
      title={words.title}
      about={words.about}
      actions={
        mayManage && (
          <button type="button" class="button" data-action="ask-add-role" onClick={() => setDialog('add')}>
            <Icon name="plus" size="sm" />
            {words.add}
          </button>
        )
      }
    >
      {shown.length === 0 ? (
        <Empty icon="id-card" title={words.none} />
      ) : (
        <ul class="list">
          {shown.map((role) => (
            <RoleRow key={role.key} role={role} onAct={mayManage ? (about) => setDialog({ about, role }) : undefined} />
          ))}
        </ul>
      )}
      {dialog !== undefined && <RoleDialog of={dialog} shown={shown} replacing={replacing} onClose={close} />}
    </Card>
  )
}

type DialogProps = { of: DialogState; shown: RoleView[]; replacing: Replacing; onClose: () => void }

function RoleDialog({ of: dialog, shown, replacing, onClose }: DialogProps) {
  const { roles: words } = useAppsMessages()
  if (dialog === 'add') return <EditRole {...replacing} onClose={onClose} onStale={() => {}} />
  // As it is now. Once it is removed, its dialog is about to close.
  const role = shown.find(({ key }) => key === dialog.role.key) ?? dialog.role
  const onStale = (current: AppRoles) => {
    if (hasRole(current, role.key)) return
    onClose()
    toast(words.gone(isolate(role.displayName)))
  }
  const common = { ...replacing, role, onClose, onStale }
  return dialog.about === 'edit' ? <EditRole {...common} /> : <RemoveRole {...common} />
}

type RowProps = { role: RoleView; onAct: ((about: 'edit' | 'remove') => void) | undefined }

function RoleRow({ role: { key, displayName, groups, handles }, onAct }: RowProps) {
  const { roles: words } = useAppsMessages()
  const isAssigned = groups.length + handles.length > 0
  return (
    <li>
      <span class="glyph sm">
        <Icon name="id-card" size="sm" />
      </span>
      <div class="body">
        <strong>{displayName}</strong>
        <code dir="ltr">{key}</code>
        {groups.length > 0 && (
          <small>
            {words.ofGroups} <code dir="ltr">{groups.join(' ')}</code>
          </small>
        )}
        {handles.length > 0 && <small>{joinNames(handles.map(atHandle))}</small>}
        {!isAssigned && <small>{words.unassigned}</small>}
      </div>
      {onAct && (
        <div class="acts">
          <Menu
            label={words.menuOf(isolate(displayName))}
            action="role-menu"
            items={[
              { label: words.change, icon: 'pencil', action: 'ask-edit-role', onChoose: () => onAct('edit') },
              {
                label: words.remove,
                icon: 'trash',
                danger: true,
                action: 'ask-remove-role',
                onChoose: () => onAct('remove'),
              },
            ]}
          />
        </div>
      )}
    </li>
  )
}

type RemoveProps = Replacing & { role: RoleView; onClose: () => void; onStale: (roles: AppRoles) => void }

function RemoveRole({ role: { key, displayName }, onClose, onStale, ...replacing }: RemoveProps) {
  const { roles: words } = useAppsMessages()
  const replace = useReplacement(replacing, onStale)
  const act = {
    name: 'remove-role',
    label: words.remove,
    look: 'danger',
    do: async () => {
      await replace(withoutRole(replacing.of, key))
      onClose()
      toast(words.removed(isolate(displayName)))
    },
  } as const
  return (
    <Ask
      title={words.removeTitle(isolate(displayName))}
      act={act}
      onClose={onClose}
      command={['apps', 'roles', 'remove', replacing.clientId, key]}
    >
      <p>{words.removeWhat}</p>
    </Ask>
  )
}
