import type { RequestOf } from '@countersign/protocol/api'
import { findIdentityId } from '../acting/find-identity.ts'
import type { useOperator } from '../acting/operator.ts'

export type StreamFilter = RequestOf<'GET /api/admin/audit/stream'>['querystring']

/** The events to show. `identity` is a username or an ID. */
export type AuditFilter = {
  action?: string
  actor?: string
  identity?: string
  clientId?: string
  result?: Result
  from?: string
}

const daysOf = { all: undefined, day: 1, week: 7, month: 30 } as const
export const periods = ['all', 'day', 'week', 'month'] as const satisfies (keyof typeof daysOf)[]

export const results = ['all', 'success', 'failure'] as const
type Result = Exclude<(typeof results)[number], 'all'>

/** Kinds of what acts, as the API names them. `operator` includes the three after it. */
export const actors = ['all', 'user', 'app', 'operator', 'token', 'scim', 'break_glass', 'system'] as const

/** What an operator has entered to find events. */
export type Written = {
  action: string
  identity: string
  app: string
  actor: (typeof actors)[number]
  result: (typeof results)[number]
  period: (typeof periods)[number]
}

const nothing: Written = { action: '', identity: '', app: '', actor: 'all', result: 'all', period: 'all' }

/** The filter of the page, with what was entered for it. */
export type AppliedFilter = { written: Written; filter: AuditFilter }

export const noFilter: AppliedFilter = { written: nothing, filter: {} }

/** Returns what an operator has entered as the filter of the page. Its period ends now. */
export function applyFilter(written: Written, now: Date): AppliedFilter {
  return { written, filter: filterOf(written, now) }
}

function filterOf({ action, identity, app, actor, result, period }: Written, now: Date): AuditFilter {
  // Names of actions have these characters only.
  const name = action.toLowerCase().replaceAll(/[^a-z_.]/g, '')
  const days = daysOf[period]
  return {
    ...(name !== '' && { action: name }),
    ...(actor !== 'all' && { actor }),
    ...(result !== 'all' && { result }),
    ...(identity.trim() !== '' && { identity: identity.trim() }),
    ...(app.trim() !== '' && { clientId: app.trim() }),
    ...(days !== undefined && { from: new Date(now.getTime() - days * 86_400_000).toISOString() }),
  }
}

/** Returns the parameters of a filter, with the ID of the identity. The stream has them too: it has no period. */
export async function selectionOf(
  operator: Pick<ReturnType<typeof useOperator>, 'ask'>,
  { identity, ...others }: Omit<AuditFilter, 'from'>,
): Promise<StreamFilter> {
  return { ...others, ...(identity !== undefined && { identity: await findIdentityId(operator, identity) }) }
}
