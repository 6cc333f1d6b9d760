import { isDeepStrictEqual } from 'node:util'
import type { ConfigurationChange } from '@countersign/protocol/operations/configuration'
import type { Json } from '@countersign/protocol/formats/signing/canonical-json'
import type { Operator } from '#accounts/operators/operator-guard.ts'
import type { AppDirectory } from '#clients/registration/directory.ts'
import type { ResourceDirectory } from '#clients/resources/settings.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'The document names an object twice.'],
  plan_changed: [409, 'Something changed since the plan was shown. Look at the new plan.'],
  managed_elsewhere: [409, 'Another source manages this object, or it was made by hand. Adopt it to change it.'],
})

/** A field that changes. Both values of a secret are null. */
export type Field = { path: string; from: Json; to: Json }
export type Change = Omit<ConfigurationChange, 'fields'> & { fields: Field[] }

/** Values of an object by path, such as `access.mode`. */
export type Values = Record<string, Json>

/** A document that is being applied in a transaction. */
export type Applying = {
  kernel: ServerContext
  apps: AppDirectory
  resources: ResourceDirectory
  tx: Transaction
  operator: Operator
  source: string
  adopt: boolean
  /** Versions of the sinks to which their change was announced, by key. Absent in a dry run. */
  announced?: ReadonlyMap<string, number> | undefined
  now: Date
}

/** Returns the fields in which an object differs from what is declared. The order of a list means nothing. */
export function differences(before: Values, declared: Values): Field[] {
  return Object.entries(declared).flatMap(([path, to]) => {
    const from = before[path] ?? null
    return isDeepStrictEqual(unordered(from), unordered(to)) ? [] : [{ path, from, to }]
  })
}

function unordered(value: Json): Json {
  return Array.isArray(value) ? value.toSorted((one, other) => (String(one) < String(other) ? -1 : 1)) : value
}

/** Returns the fields of a new object. */
export function fieldsOfNew(declared: Values): Field[] {
  return Object.entries(declared).map(([path, to]) => ({ path, from: null, to }))
}

/** Returns the values without those that are undefined. */
export function definedValues(values: Record<string, Json | undefined>): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([path, value]): [string, Json][] => (value === undefined ? [] : [[path, value]])),
  )
}

/**
 * Decides about an existing object by the source that manages it, if any. An object of another one may be declared as
 * it is, and is changed only if it is adopted. Throws `managed_elsewhere`.
 */
export function actionOn(
  { source, adopt }: Pick<Applying, 'source' | 'adopt'>,
  managedBy: string | undefined,
  fields: Field[],
): 'update' | 'adopt' | 'none' {
  if (managedBy === source) return fields.length > 0 ? 'update' : 'none'
  if (adopt) return 'adopt'
  if (fields.length > 0) throw errors.managed_elsewhere({ fields: { source: managedBy ?? null } })
  return 'none'
}

/** Creates the error for another plan than the one that was shown. */
export const planChangedError = errors.plan_changed

/** Makes a source the one that manages an object. Throws `plan_changed` if another request did the same meanwhile. */
export async function claim({ tx, source }: Applying, managed: Omit<store.Managed, 'source'>): Promise<void> {
  if (!(await store.claim(tx, { ...managed, source }))) throw errors.plan_changed()
}

/** Throws `invalid_request` if two objects have one key. */
export function requireDistinct(keys: string[]): void {
  const twice = keys.find((key, nth) => keys.indexOf(key) !== nth)
  if (twice !== undefined) throw errors.invalid_request({ sentence: `The document names ${twice} twice.` })
}

/** Runs work on an object, which its errors then name. */
export async function naming<Result>(object: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, code, message, fields, headers } = error
    throw new ApiError(status, code, `${object}: ${message}`, { fields: { ...fields, object }, headers })
  }
}
