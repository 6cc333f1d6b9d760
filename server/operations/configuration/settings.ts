import { type SettingChanges, settingKeys, type SettingValue } from '@countersign/protocol/operations/settings'
import { requirePermissions } from '#accounts/operators/acting-operator.ts'
import { updateSettings } from '#operations/settings/settings.ts'
import { readStoredSettings } from '#platform/settings/setting.ts'
import { ApiError } from '#platform/api-error.ts'
import { type Applying, type Change, differences, naming, planChangedError } from './plan.ts'

/** Changes the declared settings. Throws as `updateSettings`, but `plan_changed` if another request changes them. */
export function applySettings({ kernel, tx, operator }: Applying, declared: SettingChanges): Promise<Change[]> {
  const object = 'settings'
  requirePermissions(operator, ['settings.manage'])
  return naming(object, async () => {
    const before = await readStoredSettings(tx)
    const target = { operator, replaced: before?.revision ?? 0 }
    await updateSettings({ ...kernel, db: tx }, target, declared).catch(rethrow)
    const after = await readStoredSettings(tx)
    const values = settingKeys.map((key): [string, SettingValue] => [key, after?.stored[key] ?? null])
    const fields = differences({ ...before?.stored }, Object.fromEntries(values))
    return [{ object, action: fields.length > 0 ? 'update' : 'none', fields }]
  })
}

/** Throws an error of `updateSettings`. A document names no version of the settings that the operator has read. */
function rethrow(error: unknown): never {
  throw error instanceof ApiError && error.code === 'version_mismatch' ? planChangedError() : error
}
