import type { Identity } from '@countersign/protocol/accounts/identities'
import { RadioGroup } from '../../components/form/Choice.tsx'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { ActionForm } from '../../components/form/Actions.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import { Field } from '../../components/form/Field.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { PageHead } from '../../components/frame/Frame.tsx'
import { Card } from '../../components/ui/Card.tsx'
import type { Navigate } from './routes.ts'
import { callBusiness } from './session/session.ts'
import { useBusinessMessages } from './words.ts'
import { atHandle } from '../../lib/text/handle.ts'

type IdentitySelectProps = {
  legend: string
  identities: Identity[]
  chosen: string
  onChoose: (identityId: string) => void
}

/** Asks as which identity the user acts. Shows nothing if they have only one. */
export function IdentitySelect({ legend, identities, chosen, onChoose }: IdentitySelectProps) {
  if (identities.length < 2) return null
  return (
    <RadioGroup
      name="identityId"
      legend={legend}
      of={identities.map(({ identityId, displayName, handle }) => ({
        value: identityId,
        label: displayName,
        about: atHandle(handle),
      }))}
      chosen={[chosen]}
      onChoose={onChoose}
    />
  )
}

type NewOrganizationProps = { identities: Identity[]; goTo: Navigate; onCreated: (created: OwnOrganization) => void }

export function NewOrganization({ identities, goTo, onCreated }: NewOrganizationProps) {
  const words = useBusinessMessages()
  const { frame } = useMessages()
  const doing = useActions()
  const [name, setName] = useState('')
  const [identityId, setIdentityId] = useState(identities[0]?.identityId ?? '')
  const [checked, setChecked] = useState(false)
  const create: Action = {
    name: 'create-organization',
    label: words.create,
    do: async () => {
      setChecked(true)
      if (!isDisplayName(name)) return
      const { organization } = await callBusiness('POST /api/organizations', { body: { name, identityId } })
      onCreated(organization)
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: () => goTo({ at: 'list' }) }
  return (
    <>
      <PageHead title={words.add} lead={words.addWhat} />
      <Card class="form-card">
        <ActionForm submit={create} others={[cancel]} doing={doing}>
          <Field
            name="name"
            label={words.name}
            value={name}
            onInput={setName}
            autocomplete="organization"
            problem={checked && !isDisplayName(name) ? words.nameInvalid : undefined}
          />
          <IdentitySelect legend={words.ownAs} identities={identities} chosen={identityId} onChoose={setIdentityId} />
        </ActionForm>
      </Card>
    </>
  )
}
