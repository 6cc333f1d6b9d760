import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { isolate } from '../../../lib/text/isolate.ts'
import { useAuditMessages } from './words.ts'

/** Returns what names an operator who acted: by their username, or an admin token by its name. */
export function useOperatorName(): (operator: NonNullable<AuditEvent['operator']>) => string {
  const { by } = useAuditMessages()
  return ({ kind, name }) =>
    kind === 'break_glass' ? 'ADMIN_TOKEN' : by[kind](name === null ? undefined : isolate(name))
}
