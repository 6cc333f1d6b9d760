import type { Settings as Current } from '@countersign/protocol/operations/settings'
import { useState } from 'preact/hooks'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { TextArea } from '../../../components/display/Facts.tsx'
import { isolate } from '../../../lib/text/isolate.ts'
import { type DomainsFault, domainsFaultOf, type Draft, registrationModes, textOf } from './draft.ts'
import { FixedSetting } from './FixedSetting.tsx'
import { SettingsForm } from './SettingsForm.tsx'
import { type Replace, useMayChange } from './use-settings.ts'
import { useSettingsMessages } from './words.ts'

const [modeKey, domainsKey] = ['registration.mode', 'registration.domains'] as const

type Props = { current: Current; draft: Draft; change: (changed: Draft) => void; replace: Replace }

/** Decides who can create an account. */
export function Registration({ current, draft, change, replace }: Props) {
  const words = useSettingsMessages()
  const mayChange = useMayChange()
  const [isChecked, setChecked] = useState(false)
  const mode = draft[modeKey] ?? current.settings[modeKey]?.value
  const written = draft[domainsKey] ?? textOf(current.settings[domainsKey]?.value)
  const isOfDomains = mode === 'domains'
  const own: Draft = {
    ...(draft[modeKey] !== undefined && { [modeKey]: draft[modeKey] }),
    ...(isOfDomains && draft[domainsKey] !== undefined && { [domainsKey]: draft[domainsKey] }),
  }
  const isEditable = mayChange(modeKey, current) || (isOfDomains && mayChange(domainsKey, current))
  const fault = isOfDomains ? domainsFaultOf(written) : undefined
  const save: Replace = async (act) => {
    setChecked(true)
    if (fault === undefined) await replace(act)
  }
  return (
    <SettingsForm
      name="registration"
      title={words.registration}
      current={current}
      draft={own}
      replace={isEditable ? save : undefined}
    >
      {mayChange(modeKey, current) ? (
        <RadioGroup
          name="mode"
          legend={words.who}
          of={registrationModes.map((each) => ({ value: each, ...words.modes[each] }))}
          chosen={registrationModes.filter((each) => each === mode)}
          onChoose={(chosen) => change({ [modeKey]: chosen })}
        />
      ) : (
        <FixedSetting settingKey={modeKey} label={words.who} setting={current.settings[modeKey]} />
      )}
      {isOfDomains &&
        (mayChange(domainsKey, current) ? (
          <TextArea
            name={domainsKey}
            label={words.keys[domainsKey]}
            hint={words.domainsHint}
            value={written}
            onInput={(text) => change({ [domainsKey]: text })}
            problem={isChecked && fault ? problemOf(fault, words) : undefined}
          />
        ) : (
          <FixedSetting settingKey={domainsKey} label={words.keys[domainsKey]} setting={current.settings[domainsKey]} />
        ))}
    </SettingsForm>
  )
}

function problemOf(fault: DomainsFault, words: ReturnType<typeof useSettingsMessages>): string {
  if (fault.kind === 'invalid') return words.domainProblem(isolate(fault.text))
  return fault.kind === 'none' ? words.domainsMissing : words.domainsTooMany
}
