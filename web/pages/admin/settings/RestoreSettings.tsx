import type { SettingRevision, Settings } from '@countersign/protocol/operations/settings'
import { toast } from '../../../components/frame/toast.ts'
import { formatNumber } from '../../../lib/text/dates.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { textOf } from './draft.ts'
import type { Replace } from './use-settings.ts'
import { useNamedValue } from './value-names.ts'
import { useSettingsMessages } from './words.ts'

/** A state of the settings that can be restored. */
export type Restorable = Pick<SettingRevision, 'revision' | 'values'>

/** The state before the first change. */
export const defaultRevision: Restorable = { revision: 0, values: {} }

type Props = { of: Restorable; current: Settings; replace: Replace; onClose: () => void }

/** Shows what a restoration changes, and restores. */
export function RestoreSettings({ of: { revision, values }, current, replace, onClose }: Props) {
  const words = useSettingsMessages()
  const { ask } = useOperator()
  const nameOf = useNamedValue()
  const changed = Object.entries(current.settings).flatMap(([key, { value, default: standard, editable }]) => {
    const restored = values[key] ?? standard
    return editable && textOf(restored) !== textOf(value) ? [nameOf(key, restored)] : []
  })
  const act = {
    name: 'restore-settings',
    label: words.restore,
    asleep: changed.length === 0,
    do: async () => {
      if (changed.length === 0) return
      const params = { revision: String(revision) }
      await replace((headers) => ask('POST /api/admin/settings/revisions/:revision/restore', { params, headers }))
      onClose()
      toast(words.restored)
    },
  }
  return (
    <Ask
      title={revision === 0 ? words.restoreDefaults : words.restoreTitle(formatNumber(revision))}
      act={act}
      onClose={onClose}
      command={['settings', 'restore', String(revision)]}
    >
      {changed.length === 0 ? (
        <p>{words.restoreNothing}</p>
      ) : (
        <div class="stack tight">
          <p>{words.restoreWhat}</p>
          <ul class="setting-changes">
            {changed.map((named) => (
              <li key={named}>{named}</li>
            ))}
          </ul>
        </div>
      )}
    </Ask>
  )
}
