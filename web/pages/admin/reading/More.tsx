import { ActionButton } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { useAdminMessages } from '../words.ts'
import type { List } from './use-list.ts'

/** The foot of a list of which there is more to read. */
export function More<Item>({ of }: { of: List<Item> }) {
  const words = useAdminMessages()
  const doing = useActions()
  if (!of.value || of.value.nextCursor === null) return null
  return (
    <div class="card-foot">
      <ErrorMessage of={doing.problem} />
      <ActionButton action={{ name: 'more', label: words.more, look: 'secondary', do: of.readMore }} doing={doing} />
    </div>
  )
}
