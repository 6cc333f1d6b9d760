import { ActionButton } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { formatNumber } from '../../../lib/text/dates.ts'
import { useAdminMessages } from '../words.ts'
import type { List } from './use-list.ts'

type Props<Item> = { of: Pick<List<Item>, 'value' | 'readMore'> }

/** The foot of a list of which there is more to read. */
export function More<Item>({ of }: Props<Item>) {
  return !of.value || of.value.nextCursor === null ? null : <MoreButton of={of} />
}

/** The foot of a list that is read once: it also announces how much is shown, which screen readers do not see. */
export function ListFoot<Item>({ of }: Props<Item>) {
  const words = useAdminMessages()
  return (
    <>
      <p class="vh" role="status">
        {of.value && words.shown(formatNumber(of.value.items.length))}
      </p>
      <More of={of} />
    </>
  )
}

/** It lasts as long as the list, so that a late error of an earlier list is not shown. */
function MoreButton<Item>({ of }: Props<Item>) {
  const words = useAdminMessages()
  const doing = useActions()
  return (
    <div class="card-foot">
      <ErrorMessage of={doing.problem} />
      <ActionButton action={{ name: 'more', label: words.more, look: 'secondary', do: of.readMore }} doing={doing} />
    </div>
  )
}
