import type { Settings as Current } from '@countersign/protocol/operations/settings'
import { useState } from 'preact/hooks'
import { Field } from '../../../components/form/Field.tsx'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { PictureEditor } from '../../../components/pictures/PictureEditor.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { Reading } from '../reading/Reading.tsx'
import { useOperator } from '../acting/operator.ts'
import { BrandPreview } from './BrandPreview.tsx'
import { ColorField } from './ColorField.tsx'
import { type Draft, faultsOf, isRetentionFaulty, type TextKey, textKeys, textOf } from './draft.ts'
import { FixedSetting } from './FixedSetting.tsx'
import { History } from './History.tsx'
import { Registration } from './Registration.tsx'
import { SettingsForm } from './SettingsForm.tsx'
import { type Replace, useMayChange, useSettings } from './use-settings.ts'
import { useSettingsMessages } from './words.ts'

/** Changes the settings that apply while the service runs, and shows their history. */
export function Settings() {
  const words = useSettingsMessages()
  const { settings, revisions, ...writing } = useSettings()
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <Reading of={settings} rows={8}>
        {(current) => (
          <>
            <Registration current={current} {...writing} />
            <Logo current={current} replace={writing.replace} />
            <Brand current={current} {...writing} />
            <Retention current={current} {...writing} />
            <History current={current} revisions={revisions} replace={writing.replace} />
          </>
        )}
      </Reading>
    </>
  )
}

type Props = { current: Current; draft: Draft; change: (changed: Draft) => void; replace: Replace }

/** Changes the logo of the service, at once. */
function Logo({ current, replace }: Pick<Props, 'current' | 'replace'>) {
  const words = useSettingsMessages()
  const { ask, askWithFile } = useOperator()
  const key = 'branding.logo'
  const setting = current.settings[key]
  const name = textOf(current.settings['branding.name']?.value)
  return (
    <Card title={words.keys[key]} about={words.logoWhat}>
      {useMayChange()(key, current) ? (
        <PictureEditor
          current={textOf(setting?.value)}
          name={name}
          kind="organization"
          onSave={(picture) => replace((headers) => askWithFile('PUT /api/admin/settings/logo', { headers }, picture))}
          onRemove={() =>
            replace((headers) => ask('PATCH /api/admin/settings', { headers, body: { settings: { [key]: null } } }))
          }
        />
      ) : (
        <FixedSetting settingKey={key} label={words.keys[key]} setting={setting} />
      )}
    </Card>
  )
}

/** Names the service, and links to the pages of its operator. */
function Brand({ current, draft, change, replace }: Props) {
  const words = useSettingsMessages()
  const mayChange = useMayChange()
  const [isChecked, setChecked] = useState(false)
  const { 'registration.mode': _mode, 'registration.domains': _list, 'audit.retentionDays': _days, ...texts } = draft
  const faults = faultsOf(texts)
  const isEditable = textKeys.some((key) => mayChange(key, current))
  const save: Replace = async (act) => {
    setChecked(true)
    if (faults.size === 0) await replace(act)
  }
  const show = (key: TextKey) =>
    mayChange(key, current) ? (
      <TextField
        key={key}
        settingKey={key}
        value={draft[key] ?? storedText(key, current)}
        standard={textOf(current.settings[key]?.default)}
        isFaulty={isChecked && faults.has(key)}
        onInput={(text) => change({ [key]: text })}
      />
    ) : (
      <FixedSetting key={key} settingKey={key} label={words.keys[key]} setting={current.settings[key]} />
    )
  const [name, accent, ...links] = textKeys
  const shown = { name: valueNow(name, draft, current), accent: valueNow(accent, draft, current) }
  return (
    <SettingsForm
      name="brand"
      title={words.brand}
      about={words.brandWhat}
      current={current}
      draft={texts}
      replace={isEditable ? save : undefined}
    >
      {show(name)}
      {show(accent)}
      <BrandPreview {...shown} logo={textOf(current.settings['branding.logo']?.value) || null} />
      <div class="grid-2">{links.map(show)}</div>
    </SettingsForm>
  )
}

/** Decides how long events of the audit log are kept. */
function Retention({ current, draft, change, replace }: Props) {
  const words = useSettingsMessages()
  const key = 'audit.retentionDays'
  const mayChange = useMayChange()(key, current)
  const [isChecked, setChecked] = useState(false)
  const setting = current.settings[key]
  const days = draft[key] ?? textOf(setting?.value)
  const isFaulty = isRetentionFaulty(days)
  const save: Replace = async (act) => {
    setChecked(true)
    if (!isFaulty) await replace(act)
  }
  return (
    <SettingsForm
      name="retention"
      title={words.audit}
      about={words.auditWhat}
      current={current}
      draft={draft[key] === undefined ? {} : { [key]: days }}
      replace={mayChange ? save : undefined}
    >
      {mayChange ? (
        <Field
          name={key}
          label={words.keys[key]}
          hint={words.retentionHint}
          value={days}
          onInput={(text) => change({ [key]: text })}
          problem={isChecked && isFaulty ? words.retentionProblem : undefined}
          keys="numeric"
        />
      ) : (
        <FixedSetting settingKey={key} label={words.keys[key]} setting={setting} />
      )}
    </SettingsForm>
  )
}

type TextFieldProps = {
  settingKey: TextKey
  value: string
  standard: string
  isFaulty: boolean
  onInput: (text: string) => void
}

function TextField({ settingKey, value, standard, isFaulty, onInput }: TextFieldProps) {
  const words = useSettingsMessages()
  const label = words.keys[settingKey]
  if (settingKey === 'branding.name')
    return (
      <Field
        name={settingKey}
        label={label}
        hint={words.nameHint(standard)}
        value={value}
        onInput={onInput}
        problem={isFaulty ? words.nameProblem : undefined}
      />
    )
  if (settingKey === 'branding.accent')
    return <ColorField name={settingKey} label={label} value={value} isFaulty={isFaulty} onInput={onInput} />
  const isSupport = settingKey === 'legal.support'
  const problem = isSupport ? words.supportProblem : words.linkProblem
  return (
    <Field
      name={settingKey}
      label={label}
      hint={isSupport ? words.supportHint : words.linkHint}
      value={value}
      onInput={onInput}
      problem={isFaulty ? problem : undefined}
      keys="url"
      exact
    />
  )
}

/** Returns the value that a setting would have with a draft. */
function valueNow(key: TextKey, draft: Draft, current: Current): string {
  const setting = current.settings[key]
  const written = draft[key]?.trim()
  return textOf(written === undefined ? setting?.value : written === '' ? setting?.default : written)
}

/** Returns the text of a setting in the database. The hint says what applies without one. */
function storedText(key: TextKey, { settings }: Current): string {
  const setting = settings[key]
  return setting?.source === 'database' ? textOf(setting.value) : ''
}
