import { settingRules } from '@countersign/protocol/formats/registries/settings'
import type { SettingKey, SettingRevision, Settings } from '@countersign/protocol/operations/settings'
import { useState } from 'preact/hooks'
import { ApiError } from '../../../lib/api/call.ts'
import { useOperator } from '../acting/operator.ts'
import { useList } from '../reading/use-list.ts'
import { useReading } from '../reading/use-reading.ts'
import { type Draft, stillOpen } from './draft.ts'

/** Names the revision that a change replaces. */
export type IfMatch = { 'if-match': string }

/** Replaces the settings. Throws if another operator has changed them meanwhile; then the page shows those. */
export type Replace = (act: (headers: IfMatch) => Promise<Settings>) => Promise<void>

/** Reads the settings and their history, and holds what the operator has changed on the page. */
export function useSettings() {
  const { ask } = useOperator()
  const [draft, setDraft] = useState<Draft>({})
  const settings = useReading(() => ask('GET /api/admin/settings', {}), [])
  const revisions = useList<SettingRevision>(async (cursor) => {
    const querystring = { limit: '20', ...(cursor !== undefined && { cursor }) }
    const page = await ask('GET /api/admin/settings/revisions', { querystring })
    return { items: page.revisions, nextCursor: page.nextCursor }
  }, [])
  const replace: Replace = async (act) => {
    const before = settings.value
    if (!before) return
    const accept = (after: Settings) => {
      settings.set(after)
      setDraft((written) => stillOpen(written, before, after))
      revisions.again()
    }
    try {
      accept(await act({ 'if-match': `"${before.revision}"` }))
    } catch (error) {
      if (error instanceof ApiError && error.code === 'version_mismatch')
        accept(await ask('GET /api/admin/settings', {}))
      throw error
    }
  }
  const change = (changed: Draft) => setDraft((written) => ({ ...written, ...changed }))
  return { settings, revisions, draft, change, replace }
}

/** Returns whether the operator may change a setting, and the environment does not fix it. */
export function useMayChange(): (key: SettingKey, current: Settings) => boolean {
  const { may } = useOperator()
  return (key, { settings }) => {
    const rule: (typeof settingRules)[SettingKey] = settingRules[key]
    const isAllowed = may('settings.manage') && (!('permission' in rule) || may(rule.permission))
    return isAllowed && settings[key]?.editable === true
  }
}
