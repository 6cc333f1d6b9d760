import { isFixable, settingRules } from '@countersign/protocol/formats/registries/settings'
import type { Setting, SettingKey } from '@countersign/protocol/operations/settings'
import { Icon } from '../../../components/ui/Icon.tsx'
import { useValueName } from './value-names.ts'
import { useSettingsMessages } from './words.ts'

type Props = { settingKey: SettingKey; label: string; setting: Setting | undefined }

/** Shows a setting that the operator cannot change here, and what fixes it. */
export function FixedSetting({ settingKey, label, setting }: Props) {
  const words = useSettingsMessages()
  const nameOf = useValueName()
  return (
    <div class="field setting-fixed">
      <span class="label">{label}</span>
      <p>
        <bdi>{nameOf(settingKey, setting?.value ?? null)}</bdi>
      </p>
      {setting?.editable === false && isFixable(settingKey) && (
        <p class="hint">
          <Icon name="lock" size="sm" />
          <span>
            {words.fixed} <code dir="ltr">{settingRules[settingKey].environment}</code>
          </span>
        </p>
      )}
    </div>
  )
}
