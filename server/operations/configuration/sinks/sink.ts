import type { DeclaredSink } from '@countersign/protocol/operations/sinks'
import { limits } from '@countersign/protocol/formats/limits'
import { requirePermissions } from '#accounts/operators/acting-operator.ts'
import type { Operator } from '#accounts/operators/operator-guard.ts'
import { announceChange, countChange } from '#operations/sinks/announcement.ts'
import { hasHeaders } from '#operations/sinks/secrets.ts'
import { changeSink, insertSink, isOtherReceiver, listSinkRows, type SinkRow } from '#operations/sinks/sink.ts'
import { defineErrors } from '#platform/api-error.ts'
import { addSeconds } from '#platform/clock.ts'
import type { ServerContext } from '#platform/module/services.ts'
import {
  actionOn,
  type Applying,
  type Change,
  claim,
  definedValues,
  differences,
  type Field,
  fieldsOfNew,
  naming,
  planChangedError,
  requireDistinct,
} from '../plan.ts'
import * as store from '../store.ts'

const errors = defineErrors({ invalid_request: [400, 'A new sink needs kind and url.'] })

const prefix = 'sinks/'

/** Headers that change. Their values are nowhere. */
const headersField: Field = { path: 'headers', from: null, to: null }

/** Adds and changes the declared sinks. Throws as the functions of sinks, `managed_elsewhere` and `plan_changed`. */
export async function applySinks(applying: Applying, declared: DeclaredSink[]): Promise<Change[]> {
  const { tx, operator } = applying
  requirePermissions(operator, ['sinks.manage'])
  requireDistinct(declared.map(({ key }) => key))
  const rows = new Map((await listSinkRows(tx)).map((row) => [row.key, row]))
  const managed = await store.listSinks(tx)
  const changes: Change[] = []
  for (const sink of declared) {
    const object = `${prefix}${sink.key}`
    const row = rows.get(sink.key)
    const by = managed.find(({ sinkId }) => sinkId === row?.sinkId)
    const done = await naming(object, () => (row ? applyChange(applying, sink, { row, by }) : addSink(applying, sink)))
    changes.push({ object, ...done })
  }
  return changes
}

type Done = Omit<Change, 'object'>

async function addSink(applying: Applying, declared: DeclaredSink): Promise<Done> {
  const { kernel, tx, operator, now } = applying
  const { key, kind, url, status = 'enabled' } = declared
  if (kind === undefined || url === undefined) throw errors.invalid_request()
  const { headers, caPem, actions } = declared
  const input = { key, kind, url, headers: headers ?? {}, caPem: caPem ?? null, actions: actions ?? [], status }
  const { sinkId } = await insertSink({ ...kernel, db: tx }, operator, input, now)
  await claim(applying, { kind: 'sink', key, sinkId })
  const fields = fieldsOfNew(definedValues({ kind, ...valuesOf(declared) }))
  return { action: 'create', fields: [...fields, ...(headers ? [headersField] : [])] }
}

type Existing = { row: SinkRow; by: store.ManagedRow | undefined }

async function applyChange(applying: Applying, declared: DeclaredSink, { row, by }: Existing): Promise<Done> {
  const { kernel, tx, operator, source, now } = applying
  if (declared.kind !== undefined && declared.kind !== row.kind)
    throw errors.invalid_request({ sentence: 'kind never changes. Declare another sink.' })
  const wasPruned = by?.source === source && by.deleteAt !== null
  const restored: DeclaredSink =
    wasPruned && declared.status === undefined ? { ...declared, status: 'enabled' } : declared
  const { url, caPem, actions, status } = row
  const changed = differences({ url, caPem, actions, status }, valuesOf(restored))
  const paths = new Set(changed.map(({ path }) => path))
  const values = {
    ...(paths.has('url') && restored.url !== undefined && { url: restored.url }),
    ...(paths.has('caPem') && { caPem: restored.caPem ?? null }),
    ...(paths.has('actions') && { actions: restored.actions ?? [] }),
    ...(paths.has('status') && restored.status !== undefined && { status: restored.status }),
  }
  const headers = restored.headers === null ? {} : restored.headers
  const isMoved = isOtherReceiver(row, values)
  const isNewHeaders = headers ? !(await hasHeaders(kernel, row, headers)) : isMoved && row.headerNames.length > 0
  const fields = [...changed, ...(isNewHeaders ? [headersField] : [])]
  const action = wasPruned ? 'update' : actionOn(applying, by?.source, fields)
  if (action === 'none') return { action, fields }
  if (fields.length > 0) {
    requireAnnounced(applying, row)
    // Those of the former receiver do not stay by themselves.
    const change = { ...values, ...(headers && (isNewHeaders || isMoved) && { headers }) }
    await changeSink({ ...kernel, db: tx }, operator, { row, change }, now)
  }
  await claim(applying, { kind: 'sink', key: row.key, sinkId: row.sinkId })
  return { action, fields }
}

/** Returns what a document says about a sink, with defaults in place of null. Its headers are not among it. */
function valuesOf({ url, caPem, actions, status }: DeclaredSink) {
  return definedValues({ url, caPem, actions: actions === null ? [] : actions, status })
}

/** Throws `plan_changed` if a sink is no longer the one to which its change was announced. */
function requireAnnounced({ announced }: Applying, { key, version }: SinkRow): void {
  if (announced && announced.get(key) !== version) throw planChangedError()
}

/**
 * Pauses the sinks of the source that the document does not name. They are deleted later, unless a document names them
 * again.
 */
export async function pruneSinks(applying: Applying, declared: DeclaredSink[]): Promise<Change[]> {
  const { kernel, tx, operator, source, now } = applying
  const named = new Set(declared.map(({ key }) => key))
  const rows = await listSinkRows(tx)
  const changes: Change[] = []
  for (const { key, sinkId, deleteAt } of await store.listObjects(tx, source, 'sink')) {
    const row = rows.find((each) => each.sinkId === sinkId)
    if (!row || named.has(key) || deleteAt !== null) continue
    const object = `${prefix}${key}`
    await naming(object, async () => {
      requireAnnounced(applying, row)
      await changeSink({ ...kernel, db: tx }, operator, { row, change: { status: 'paused' } }, now)
    })
    await store.setDeletion(tx, { source, kind: 'sink', key }, addSeconds(now, limits.prunedObjectSeconds))
    changes.push({ object, action: 'delete', fields: [{ path: 'status', from: row.status, to: 'paused' }] })
  }
  return changes
}

/** Returns the keys of the sinks that a plan adds, changes or pauses. */
export function changedSinks(changes: Change[]): string[] {
  return changes
    .filter(({ object, action, fields }) => object.startsWith(prefix) && action !== 'none' && fields.length > 0)
    .map(({ object }) => object.slice(prefix.length))
}

/**
 * Sends to each sink that a plan changes what changes, as the endpoint does, and returns their versions by key. Runs
 * before the transaction of the plan, since it waits for the receivers. Throws `rate_limited` before it sends anything.
 */
export async function announceChanges(
  kernel: ServerContext,
  operator: Operator,
  changes: Change[],
): Promise<Map<string, number>> {
  const keys = changedSinks(changes)
  for (let nth = 0; nth < keys.length; nth += 1) await countChange(kernel, operator)
  const announced = new Map<string, number>()
  for (const row of await listSinkRows(kernel.db)) {
    if (!keys.includes(row.key)) continue
    const fields = changes.find(({ object }) => object === `${prefix}${row.key}`)?.fields ?? []
    await announceChange(kernel, operator, { row, change: 'update', changed: fields.map(({ path }) => path) })
    announced.set(row.key, row.version)
  }
  return announced
}

/** Returns a sink as a document declares it: what differs from the defaults, without the values of its headers. */
export function declarationOf({ key, kind, url, caPem, actions, status }: SinkRow): DeclaredSink {
  return {
    ...{ key, kind, url },
    ...(caPem !== null && { caPem }),
    ...(actions.length > 0 && { actions }),
    ...(status !== 'enabled' && { status }),
  }
}
