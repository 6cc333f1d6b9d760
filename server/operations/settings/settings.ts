import { isDeepStrictEqual } from 'node:util'
import { type FixableKey, isFixable, settingRules } from '@countersign/protocol/formats/registries/settings'
import {
  type SettingChanges,
  type SettingKey,
  settingKeys,
  type SettingRevision,
  type SettingValue,
  type Settings,
  type SomeSettings,
} from '@countersign/protocol/operations/settings'
import { requirePermissions } from '#accounts/operators/acting-operator.ts'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Config } from '#platform/config/config.ts'
import { afterCommit, type Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { addPicture, deleteOtherPictures, pictureUrl, renderUpload } from '#platform/pictures/picture.ts'
import type { Workshop } from '#platform/pictures/workshop.ts'
import {
  listNamedLogos,
  listRevisions,
  type NewRevision,
  revisionsMax,
  storeRevision,
} from '#platform/settings/revision.ts'
import {
  applySettings,
  defaultSettings,
  objectionToRegistration,
  parseSetting,
  readStoredSettings,
  type StoredSettings,
} from '#platform/settings/setting.ts'

const errors = defineErrors({
  invalid_request: [400, 'A setting has an invalid value.'],
  setting_revision_not_found: [404, `No revision has this number. The last ${revisionsMax} are kept.`],
  setting_fixed_by_environment: [409, 'The environment fixes this setting.'],
  version_mismatch: [412, 'The settings were changed meanwhile. Read them again.'],
})

const logoKey = 'branding.logo'
const registrationKeys: readonly SettingKey[] = ['registration.mode', 'registration.domains']
const service = { kind: 'service', id: 'service' } as const

type Kernel = Pick<ServerContext, 'db' | 'config' | 'settings' | 'clock'>

/** Returns all settings as they apply now, from the database. */
export async function getSettings({ db, config }: Pick<Kernel, 'db' | 'config'>): Promise<Settings> {
  return describe(config, (await readStoredSettings(db)) ?? { revision: 0, stored: {} })
}

function describe(config: Config, { revision, stored }: StoredSettings): Settings {
  const [values, defaults] = [applySettings(config, stored), defaultSettings(config)]
  const settings = settingKeys.map((key): [string, Settings['settings'][string]] => {
    const isFixed = config.fixed[key] !== undefined
    const source = isFixed ? 'environment' : stored[key] === undefined ? 'default' : 'database'
    return [key, { value: shownValue(config, key, values[key]), default: defaults[key], source, editable: !isFixed }]
  })
  return { revision, settings: Object.fromEntries(settings) }
}

/** Returns the value of a setting as operators see it: a logo by its URL. */
function shownValue({ baseUrl }: Pick<Config, 'baseUrl'>, key: string, value: SettingValue): SettingValue {
  return key === logoKey && typeof value === 'string' ? pictureUrl(baseUrl, value) : value
}

/** A change by an operator of the settings of one revision, or of any. */
export type SettingTarget = { operator: Operator; replaced: number | undefined }

/**
 * Changes settings. Throws `invalid_request`, `permission_denied`, `setting_fixed_by_environment`, or
 * `version_mismatch` if the settings are of another revision, or another request changes them at the same time.
 */
export function updateSettings(kernel: Kernel, target: SettingTarget, changes: SettingChanges): Promise<Settings> {
  const named = settingKeys.filter((key) => changes[key] !== undefined)
  const parsed = named.map((key): [SettingKey, SettingValue] => {
    if (isFixable(key) && kernel.config.fixed[key] !== undefined) throw fixedError(key)
    const written = changes[key] ?? null
    if (written === null) return [key, null]
    const found = parseSetting(key, written)
    if ('objection' in found) throw errors.invalid_request({ sentence: found.objection })
    return [key, found.value]
  })
  return replaceSettings(kernel, target, async (_tx, stored) => ({ settings: merge(stored, parsed) }))
}

function fixedError(key: FixableKey) {
  const { environment } = settingRules[key]
  return errors.setting_fixed_by_environment({ sentence: `${environment} fixes ${key}.`, fields: { key, environment } })
}

/** Adds changes to stored settings. Null removes one. */
function merge(stored: SomeSettings, changes: [SettingKey, SettingValue][]): SomeSettings {
  const entries = Object.entries({ ...stored, ...Object.fromEntries(changes) }).filter(([, value]) => value !== null)
  return Object.fromEntries(entries)
}

/** Makes an uploaded picture the logo. Throws like `updateSettings`, and the errors of `renderUpload`. */
export async function setLogo(
  { kernel, workshop }: { kernel: Kernel; workshop: Workshop },
  target: SettingTarget,
  bytes: Buffer,
): Promise<Settings> {
  if (kernel.config.fixed[logoKey] !== undefined) throw fixedError(logoKey)
  const rendered = await renderUpload(workshop, 'operator', service.kind, bytes)
  return replaceSettings(kernel, target, async (tx, stored) => {
    const pictureId = await addPicture(tx, service, rendered, kernel.clock())
    return { settings: merge(stored, [[logoKey, pictureId]]) }
  })
}

/** Restores the settings of a revision. Throws `setting_revision_not_found`, and like `updateSettings`. */
export function restoreRevision(kernel: Kernel, target: SettingTarget, restoredFrom: number): Promise<Settings> {
  return replaceSettings(kernel, target, async (tx) => {
    // A path that names no number arrives as NaN.
    const found = Number.isInteger(restoredFrom) ? await readStoredSettings(tx, restoredFrom) : undefined
    if (!found) throw errors.setting_revision_not_found()
    return { settings: found.stored, restoredFrom }
  })
}

type Replacing = (tx: Transaction, stored: SomeSettings) => Promise<{ settings: SomeSettings; restoredFrom?: number }>

function replaceSettings(kernel: Kernel, target: SettingTarget, replacing: Replacing): Promise<Settings> {
  const { db, config, settings: current, clock } = kernel
  const { operator, replaced } = target
  const now = clock()
  return operatorTransaction(db, operator, async (tx) => {
    afterCommit(tx, () => current.refresh())
    const before = await readStoredSettings(tx)
    if (!before || (replaced !== undefined && before.revision !== replaced)) throw errors.version_mismatch()
    const { settings, restoredFrom } = await replacing(tx, before.stored)
    const changed = settingKeys.filter((key) => !isDeepStrictEqual(settings[key], before.stored[key]))
    if (changed.length === 0) return describe(config, before)
    requirePermissions(operator, changed.flatMap(permissionsOfChange))
    if (changed.some((key) => registrationKeys.includes(key))) {
      const sentence = objectionToRegistration(applySettings(config, settings), config)
      if (sentence !== undefined) throw errors.invalid_request({ sentence })
    }
    const row: NewRevision = { stored: settings, changed, restoredFrom, ...auditFieldsOf(operator) }
    if (!(await storeRevision(tx, before.revision, row, now))) throw errors.version_mismatch()
    if (changed.includes(logoKey)) await deleteOtherPictures(tx, service.id, await listNamedLogos(tx))
    const revision = before.revision + 1
    const changes = changed.map((key) => ({ path: key, from: textOf(before.stored[key]), to: textOf(settings[key]) }))
    const details = { revision, changed, changes, ...(restoredFrom !== undefined && { restoredFrom }) }
    await recordAuditEvent(tx, { action: 'settings.updated', ...auditFieldsOf(operator), details }, now)
    return describe(config, { revision, stored: settings })
  })
}

/** Returns a value as the audit log has it: a list in one text. */
function textOf(value: SettingValue = null): string | null {
  return value === null ? null : Array.isArray(value) ? value.join(', ') : String(value)
}

function permissionsOfChange(key: SettingKey) {
  const rule = settingRules[key]
  return 'permission' in rule ? [rule.permission] : []
}

type Page = { before: number | undefined; count: number }

/** Lists a page of the revisions, newest first. */
export async function listSettingRevisions(
  { db, config }: Pick<Kernel, 'db' | 'config'>,
  { before, count }: Page,
): Promise<{ revisions: SettingRevision[]; nextCursor: string | null }> {
  const found = await listRevisions(db, before, count + 1)
  const revisions = found.slice(0, count).map((each) => ({ ...each, values: shownValues(config, each.values) }))
  return { revisions, nextCursor: found.length > count ? String(revisions.at(-1)?.revision) : null }
}

function shownValues(config: Config, values: SettingRevision['values']): SettingRevision['values'] {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, shownValue(config, key, value) ?? value]),
  )
}
