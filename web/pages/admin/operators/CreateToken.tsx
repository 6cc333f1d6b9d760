import type { AdminToken, NewAdminToken } from '@countersign/protocol/accounts/admin-tokens'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { tokenPermissions } from '@countersign/protocol/formats/registries/permissions'
import { useState } from 'preact/hooks'
import { RadioGroup, Select } from '../../../components/form/Choice.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { formatNumber } from '../../../lib/text/dates.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { wordsOf } from '../acting/words-of.ts'
import { useOperatorsMessages } from './words.ts'

type Props = { onDone: (made: NewAdminToken) => void; onClose: () => void }

type Permission = AdminToken['permissions'][number]

const lifetimes = ['30', '90', '365'] as const

type Draft = { name: string; permissions: Permission[]; days: (typeof lifetimes)[number]; networks: string }

/** Asks for the name, the permissions, the lifetime and the networks of a new admin token. */
export function CreateToken({ onDone, onClose }: Props) {
  const { tokens: words } = useOperatorsMessages()
  const { ask } = useOperator()
  const [draft, setDraft] = useState<Draft>({ name: '', permissions: [], days: '90', networks: '' })
  const [isChecked, setChecked] = useState(false)
  const { permissions, days } = draft
  const [name, networks] = [draft.name.trim(), wordsOf(draft.networks)]
  const isValid = name !== '' && permissions.length > 0 && areNetworks(networks)
  const act = {
    name: 'create-token',
    label: words.create,
    asleep: permissions.length === 0,
    do: async () => {
      setChecked(true)
      if (!isValid) return
      const expiresAt = new Date(Date.now() + Number(days) * 86_400_000).toISOString()
      onDone(await ask('POST /api/admin/tokens', { body: { name, permissions, networks, expiresAt } }))
    },
  }
  return (
    <Ask
      title={words.add}
      act={act}
      onClose={onClose}
      command={[
        ...['tokens', 'create', '--name', name || '…'],
        ...['--permission', permissions.join(' ') || '…', '--days', days],
        ...(networks.length === 0 ? [] : ['--network', networks.join(' ')]),
      ]}
    >
      <DraftFields draft={draft} isChecked={isChecked} onChange={(changed) => setDraft({ ...draft, ...changed })} />
    </Ask>
  )
}

type FieldsProps = { draft: Draft; isChecked: boolean; onChange: (changed: Partial<Draft>) => void }

function DraftFields({ draft, isChecked, onChange }: FieldsProps) {
  const { tokens: words } = useOperatorsMessages()
  const { may } = useOperator()
  const { name, permissions, days, networks } = draft
  const toggle = (permission: Permission) =>
    onChange({
      permissions: permissions.includes(permission)
        ? permissions.filter((each) => each !== permission)
        : [...permissions, permission],
    })
  return (
    <>
      <Field
        name="name"
        label={words.name}
        hint={words.nameHint}
        value={name}
        onInput={(written) => onChange({ name: written })}
        problem={isChecked && name.trim() === '' ? words.nameMissing : undefined}
      />
      <Select
        name="days"
        label={words.lifetime}
        of={lifetimes.map((value) => ({ value, label: words.lifetimes[value] }))}
        chosen={days}
        onChoose={(chosen) => onChange({ days: chosen })}
      />
      <Field
        name="networks"
        label={words.networks}
        hint={words.networksHint}
        value={networks}
        onInput={(written) => onChange({ networks: written })}
        problem={
          isChecked && !areNetworks(wordsOf(networks))
            ? words.networksProblem(formatNumber(pageLimits.adminTokenNetworksMax))
            : undefined
        }
        exact
        isCode
      />
      <RadioGroup
        name="permissions"
        legend={words.permissions}
        hint={words.permissionsHint}
        of={tokenPermissions.filter(may).map((value) => ({ value, label: value }))}
        chosen={permissions}
        several
        onChoose={toggle}
      />
    </>
  )
}

/** Checks the form of addresses and networks. The server checks their numbers. */
function areNetworks(networks: string[]): boolean {
  return networks.length <= pageLimits.adminTokenNetworksMax && networks.every((each) => network.test(each))
}

const network = /^[\da-f]*[.:][\da-f.:]*(?:\/\d{1,3})?$/i
