import type { Identity } from '@countersign/protocol/accounts/identities'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { ActionForm } from '../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../components/form/doing.ts'
import { Field } from '../../components/form/Field.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { OwnNames } from './OwnNames.tsx'
import type { GoTo } from './places.ts'
import { callBusiness } from './session/session.ts'
import { useBusinessWords } from './words.ts'

type Props = { identities: Identity[]; goTo: GoTo; onCreated: (created: OwnOrganization) => void }

export function NewOrganization({ identities, goTo, onCreated }: Props) {
  const words = useBusinessWords()
  const { frame } = useWords()
  const doing = useDoing()
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
    <section class="step">
      <StepHeading>{words.add}</StepHeading>
      <ActionForm submit={create} others={[cancel]} doing={doing}>
        <Field
          name="name"
          label={words.name}
          value={name}
          onInput={setName}
          autocomplete="organization"
          problem={checked && !isDisplayName(name) ? words.nameInvalid : undefined}
        />
        <OwnNames legend={words.ownAs} identities={identities} chosen={identityId} onChoose={setIdentityId} />
      </ActionForm>
    </section>
  )
}
