import { useState } from 'preact/hooks'
import { ActionForm, Actions } from '../../components/form/Actions.tsx'
import { RadioGroup, Select } from '../../components/form/Choice.tsx'
import { Field } from '../../components/form/Field.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import { TextArea } from '../../components/display/Facts.tsx'
import { Card } from '../../components/ui/Card.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { Segmented, Steps, Tabs } from '../../components/ui/Tabs.tsx'

const never = () => new Promise<never>(() => {})

/** Buttons, inputs and choices. */
export function Controls() {
  const resting = useActions()
  const running = useActions()
  const failing = useActions()
  const looks: Action[] = [
    { name: 'primary', label: 'Primary', do: () => {} },
    { name: 'secondary', label: 'Secondary', look: 'secondary', icon: 'plus', do: () => {} },
    { name: 'ghost', label: 'Quiet', look: 'ghost', do: () => {} },
    { name: 'danger', label: 'Delete', look: 'danger', icon: 'trash', do: () => {} },
    { name: 'danger-quiet', label: 'Remove', look: 'danger-quiet', do: () => {} },
    { name: 'asleep', label: 'Not yet', look: 'secondary', asleep: true, do: () => {} },
  ]
  return (
    <div class="grid-2">
      <Card title="Buttons">
        <Actions of={looks} doing={resting} />
        <Actions of={[{ name: 'run', label: 'Runs until you leave', look: 'secondary', do: never }]} doing={running} />
        <Actions
          of={[{ name: 'fail', label: 'Fails', look: 'secondary', do: () => Promise.reject(new TypeError('failed')) }]}
          doing={failing}
        />
        <div class="row">
          <button type="button" class="button square" aria-label="Copy">
            <Icon name="copy" />
          </button>
          <a class="link" href="/design">
            Link
            <Icon name="arrow-right" size="sm" />
          </a>
        </div>
      </Card>
      <Inputs />
      <Choices />
    </div>
  )
}

function Inputs() {
  const doing = useActions()
  const [texts, setTexts] = useState({ handle: 'ada', email: 'ada@analytical', uris: 'https://ledgers.example/cb' })
  const change = (name: keyof typeof texts) => (text: string) => setTexts({ ...texts, [name]: text })
  return (
    <Card title="Inputs">
      <ActionForm submit={{ name: 'save', label: 'Save', do: () => {} }} doing={doing}>
        <Field
          name="handle"
          label="Username"
          prefix="@"
          hint="Letters, digits, dots and hyphens."
          value={texts.handle}
          onInput={change('handle')}
          exact
        />
        <Field
          name="email"
          label="E-mail address"
          keys="email"
          problem="Enter a full address, such as ada@example.com."
          value={texts.email}
          onInput={change('email')}
        />
        <TextArea
          name="uris"
          label="Redirect URIs"
          hint="One on each line."
          problem={undefined}
          value={texts.uris}
          onInput={change('uris')}
        />
      </ActionForm>
    </Card>
  )
}

const roles = [
  { value: 'admin', label: 'Admin', about: 'Invites people, manages domains, sign-in and keys' },
  { value: 'member', label: 'Member', about: 'Sees members and documents' },
] as const

type Role = (typeof roles)[number]['value']

function Choices() {
  const [role, setRole] = useState<Role>('member')
  const [tab, setTab] = useState('members')
  const tabs = ['members', 'invitations', 'former'].map((name, index) => ({
    label: name,
    href: `/design#${name}`,
    current: name === tab,
    count: 12 * index,
    onFollow: () => setTab(name),
  }))
  return (
    <Card title="Choices">
      <Select name="role" label="Role" of={[...roles]} chosen={role} onChoose={setRole} />
      <RadioGroup name="radio" legend="Role" of={[...roles]} chosen={[role]} onChoose={setRole} />
      <RadioGroup name="checks" legend="Roles" of={[...roles]} chosen={[role]} several onChoose={setRole} />
      <Segmented
        label="Role"
        of={roles.map(({ value, label }) => ({ value, label }))}
        chosen={role}
        onChoose={setRole}
      />
      <Tabs label="Parts" tabs={tabs} />
      <Steps label="Steps" steps={['Username', 'Passkey', 'Recovery code']} current={1} />
    </Card>
  )
}
