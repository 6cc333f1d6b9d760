import type { ComponentChildren } from 'preact'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import { Empty, Skeleton } from '../../../components/ui/Card.tsx'
import { ApiError } from '../../../lib/api/call.ts'
import { useAdminMessages } from '../words.ts'
import type { Read } from './use-reading.ts'

/** Shows what was read, the room that it will take, or why it cannot be read and what to do about that. */
export function Reading<Value>({
  of,
  rows = 4,
  children,
}: {
  of: Read<Value>
  rows?: number
  children: (value: Value) => ComponentChildren
}) {
  const { frame } = useMessages()
  if (of.problem !== undefined) {
    const permission = lackingPermission(of.problem)
    if (permission !== undefined) return <Denied permission={permission} />
    return (
      <div class="pad actions">
        <ErrorMessage of={of.problem} />
        <button type="button" class="button" data-action="retry" onClick={of.again}>
          {frame.retry}
        </button>
      </div>
    )
  }
  return of.value === undefined ? <Skeleton rows={rows} /> : <>{children(of.value)}</>
}

/** Says which permission the operator lacks. */
function Denied({ permission }: { permission: string }) {
  const words = useAdminMessages()
  return (
    <Empty icon="lock" title={words.denied.title} level={2}>
      <p>
        {words.denied.lacking} <code>{permission}</code>
      </p>
      <p>{words.denied.ask}</p>
    </Empty>
  )
}

function lackingPermission(problem: unknown): string | undefined {
  if (!(problem instanceof ApiError && problem.code === 'permission_denied')) return undefined
  const { permission } = problem.fields
  return typeof permission === 'string' ? permission : undefined
}
