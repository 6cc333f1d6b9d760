import type { ActionState } from '../../../components/form/use-actions.ts'
import { Icon } from '../../../components/ui/Icon.tsx'
import { Menu } from '../../../components/ui/Menu.tsx'
import { NetworkError } from '../../../lib/api/call.ts'
import { saveFile } from '../../../lib/download.ts'
import { useOperator } from '../acting/operator.ts'
import { type AuditFilter, selectionOf } from './filter.ts'
import { useAuditMessages } from './words.ts'

const formats = ['csv', 'jsonl'] as const

type Props = { filter: AuditFilter; doing: ActionState }

/** Saves all events that a filter selects as a file, in one of several formats. */
export function ExportMenu({ filter, doing }: Props) {
  const { export: words } = useAuditMessages()
  const operator = useOperator()
  const save = async (format: (typeof formats)[number]) => {
    const { from, ...others } = filter
    const querystring = { ...(await selectionOf(operator, others)), ...(from && { from }), format }
    const response = await operator.askForFile('GET /api/admin/audit/export', { querystring })
    // To decode hundreds of megabytes of text would stop the page for a second, and fill its memory.
    const file = await response.blob().catch((error: unknown) => {
      throw new NetworkError('The export broke off', { cause: error })
    })
    saveFile(file, `audit-log.${format}`)
  }
  return (
    <Menu
      label={words.open}
      look="plain"
      action="export-events"
      trigger={
        <span class="button" aria-busy={doing.current !== undefined}>
          <Icon name="download" size="sm" />
          {words.open}
        </span>
      }
      items={formats.map((format) => {
        const name = `save-${format}`
        const onChoose = () => void doing.perform({ name, do: () => save(format) })
        return { label: words.formats[format], icon: 'download', action: name, onChoose }
      })}
    />
  )
}
