import type { GroupRule, SsoConnection } from '@countersign/protocol/organizations/sso'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { NamedLabel } from '../../../components/display/NamedLabel.tsx'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import { isolate } from '../../../lib/text/isolate.ts'
import { act } from '../session/acts.ts'
import { isText, useKeptState } from '../session/kept-input.ts'
import type { connectionRef } from '../session/membership.ts'
import { useReopenedNote } from '../session/ReturnedActNote.tsx'
import { useBusinessMessages } from '../words.ts'
import { useState } from 'preact/hooks'

const path = 'PATCH /api/organizations/:organizationId/sso-connections/:connectionId'

type Props = {
  of: SsoConnection
  organization: Pick<OwnOrganization, 'slug'>
  given: ReturnType<typeof connectionRef>
  onChanged: () => unknown
  onClose: () => void
}

/** The rules by which values from the provider make members of groups. Each change is saved at once. */
export function GroupRules({ of: connection, organization, given, onChanged, onClose }: Props) {
  const { groupRules: words } = useBusinessMessages()
  const { groupRules } = connection
  const form = `groups-${connection.connectionId}` as const
  const note = useReopenedNote(form)
  const replaceBy = async (rules: GroupRule[]) => {
    await act(path, { ...given, body: { groupRules: rules } })
    await onChanged()
  }
  return (
    <Dialog title={words.title} onClose={onClose}>
      {note}
      <p>{words.what}</p>
      {groupRules.length > 0 && (
        <ul class="entries">
          {groupRules.map((rule) => (
            <Rule
              key={`${rule.claim} ${rule.value} ${rule.group}`}
              of={rule}
              onRemove={() => replaceBy(groupRules.filter((each) => each !== rule))}
            />
          ))}
        </ul>
      )}
      <NewRule
        form={form}
        prefix={`org:${organization.slug}:`}
        onAdd={(rule) => replaceBy([...groupRules, rule])}
        onClose={onClose}
      />
    </Dialog>
  )
}

type NewRuleProps = {
  form: string
  prefix: string
  onAdd: (rule: GroupRule) => Promise<unknown>
  onClose: () => void
}

function NewRule({ form, prefix, onAdd, onClose }: NewRuleProps) {
  const { groupRules: words } = useBusinessMessages()
  const { frame } = useMessages()
  const doing = useActions()
  const [claim, setClaim] = useKeptState(`${form}.claim`, 'groups', isText)
  const [value, setValue] = useKeptState(`${form}.value`, '', isText)
  const [name, setName] = useKeptState(`${form}.group`, '', isText)
  const [isTried, setTried] = useState(false)
  const missing = (text: string) => (isTried && text.trim() === '' ? words.missing : undefined)
  const add: Action = {
    name: 'add-group-rule',
    label: words.add,
    do: async () => {
      setTried(true)
      if (claim.trim() === '' || value.trim() === '' || !groupName.test(name)) return
      await onAdd({ claim: claim.trim(), value: value.trim(), group: `${prefix}${name}` })
      setTried(false)
      setValue('')
      setName('')
    },
  }
  const close: Action = { name: 'close', label: frame.close, look: 'quiet', do: onClose }
  const common = { exact: true, isCode: true } as const
  return (
    <ActionForm submit={add} others={[close]} doing={doing}>
      <Field {...common} name="claim" label={words.claim} value={claim} onInput={setClaim} problem={missing(claim)} />
      <Field
        {...common}
        name="value"
        label={words.value}
        hint={words.valueHint}
        value={value}
        onInput={setValue}
        problem={missing(value)}
      />
      <Field
        {...common}
        name="group"
        label={words.group}
        prefix={prefix}
        hint={words.groupHint}
        value={name}
        onInput={setName}
        problem={isTried && !groupName.test(name) ? words.groupHint : undefined}
      />
    </ActionForm>
  )
}

/** What follows the prefix in the key of a group. */
const groupName = /^[a-z0-9][a-z0-9._/-]*$/

function Rule({ of: { claim, value, group }, onRemove }: { of: GroupRule; onRemove: () => Promise<unknown> }) {
  const { groupRules: words } = useBusinessMessages()
  const doing = useActions()
  const text = words.rule(isolate(claim), isolate(value), isolate(group))
  const remove: Action = {
    name: 'remove-group-rule',
    label: <NamedLabel label={words.remove} of={text} />,
    look: 'quiet',
    do: async () => void (await onRemove()),
  }
  return (
    <li>
      <p>{text}</p>
      <Actions of={[remove]} doing={doing} />
    </li>
  )
}
