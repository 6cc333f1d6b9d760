import type { Answer } from '@countersign/protocol/api'
import { useState } from 'preact/hooks'
import { call } from '../../lib/call.ts'
import { ActionForm } from '../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../components/form/doing.ts'
import { useDraft } from '../../components/form/draft.ts'
import { Field } from '../../components/form/Field.tsx'
import { Lines } from '../../components/display/Lines.tsx'
import { Options } from '../../components/form/Options.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { addressesIn, faultsOf } from './app-draft.ts'
import type { GoTo } from './places.ts'
import { useWords } from './words.ts'

type Created = Answer<'POST /api/developer/apps'>
type Props = { goTo: GoTo; onCreated: (created: Created) => void }

const kinds = ['confidential', 'public'] as const

export function NewApp({ goTo, onCreated }: Props) {
  const words = useWords()
  const doing = useDoing()
  const { draft, faults, write, keep } = useDraft(() => ({ name: '', redirectUris: '' }), faultsOf)
  const [kind, setKind] = useState<(typeof kinds)[number]>('confidential')
  const create: Action = {
    name: 'create-app',
    label: words.developers.create,
    do: () =>
      keep(async ({ name, redirectUris }) => {
        const body = { name, redirectUris: addressesIn(redirectUris), public: kind === 'public' }
        onCreated(await call('POST /api/developer/apps', { body }))
      }),
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: () => goTo({ at: 'list' }) }
  return (
    <section class="step">
      <StepHeading>{words.developers.newTitle}</StepHeading>
      <ActionForm submit={create} others={[cancel]} doing={doing}>
        <Field
          name="name"
          label={words.developers.name}
          hint={words.developers.nameHint}
          value={draft.name}
          onInput={(name) => write({ name })}
          problem={faults.has('name') ? words.register.displayNameInvalid : undefined}
        />
        <Lines
          name="redirectUris"
          label={words.developers.redirectUris}
          hint={words.developers.redirectUrisHint}
          value={draft.redirectUris}
          onInput={(redirectUris) => write({ redirectUris })}
          problem={faults.has('redirectUris') ? words.developers.redirectUrisInvalid : undefined}
        />
        <Options
          name="kind"
          legend={words.developers.kind}
          of={kinds.map((value) => ({ value, label: words.developers.kinds[value] }))}
          chosen={[kind]}
          onChoose={setKind}
        />
      </ActionForm>
    </section>
  )
}
