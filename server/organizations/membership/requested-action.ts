import type { JsonObject } from '@countersign/protocol/formats/signing/canonical-json'
import type { FastifyRequest } from 'fastify'
import type { AuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { ApprovalsNeeded } from './council/council.ts'
import type { Member } from './member.ts'

/**
 * What a handler records of an act: `from` has the values that it changes, as they were in the locked row; `approvals`
 * what it needs of others, by the locked council.
 */
export type DoneAct = { acting: Member; event: AuditEvent; from: JsonObject | undefined; approvals: ApprovalsNeeded }

/**
 * Signed act that a handler carries out. `record` consumes it and appends it to the trail, in the transaction of the
 * change, or throws if the act is not what the member has signed.
 */
export type PresentedAct = { record: (tx: Transaction, done: DoneAct, now: Date) => Promise<void> }

/**
 * Content of an action, and how it is signed: by an act, by a signature of version 1 over the content, or not at all.
 * With `isDryRun` the request asks for the act and changes nothing.
 */
export type SignedActionInput = {
  details: Record<string, unknown>
  signature: string | undefined
  isDryRun: boolean
  act?: PresentedAct
}

type SignableRequest = { params: unknown; body: unknown } & Pick<FastifyRequest, 'routeOptions'>

/** Lists the path parameters, then the body fields except `signedAction`, in the order of their schemas. */
export function parseSignedAction({ params, body, routeOptions: { schema } }: SignableRequest): SignedActionInput {
  const { signedAction, ...fields } = { ...inOrder(body, schema?.body) }
  const details = { ...inOrder(params, schema?.params), ...fields }
  const signature = isRecord(signedAction) ? signedAction['signature'] : undefined
  const asksWhatToSign = isRecord(signedAction) && signature === undefined
  return { details, signature: typeof signature === 'string' ? signature : undefined, isDryRun: asksWhatToSign }
}

/** Picks the fields of a value that its schema names, in schema order. */
function inOrder(value: unknown, schema: unknown): Record<string, unknown> {
  if (!isRecord(value) || !isRecord(schema) || !isRecord(schema['properties'])) return {}
  const names = Object.keys(schema['properties']).filter((name) => Object.hasOwn(value, name))
  return Object.fromEntries(names.map((name) => [name, value[name]]))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
