import type { AuditActor } from '@countersign/protocol/operations/audit'
import { isolate } from '../../../lib/text/isolate.ts'
import { useAuditMessages } from './words.ts'

/** Returns what names an actor: a user or an operator by their username, an app or a token by its name. */
export function useActorName(): (actor: AuditActor) => string {
  const { actors, by } = useAuditMessages()
  return ({ kind, id, name }) => {
    if (kind === 'break_glass') return 'ADMIN_TOKEN'
    if (kind === 'system') return actors.system
    if (kind === 'operator' && id === null) return actors.operator
    return by[kind](name === null ? undefined : isolate(name))
  }
}
