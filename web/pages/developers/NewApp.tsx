import type { ResponseOf } from '@countersign/protocol/api'
import { useState } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import { ActionForm } from '../../components/form/Actions.tsx'
import { useActions, type Action } from '../../components/form/use-actions.ts'
import { useDraft } from '../../components/form/draft.ts'
import { Field } from '../../components/form/Field.tsx'
import { TextArea } from '../../components/display/Facts.tsx'
import { RadioGroup } from '../../components/form/Choice.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { parseUrlList, faultsOf } from './app-draft.ts'
import type { Navigate } from './routes.ts'
import { useMessages } from './words.ts'

type Created = ResponseOf<'POST /api/developer/apps'>
type Props = { goTo: Navigate; onCreated: (created: Created) => void }

const kinds = ['confidential', 'public'] as const

export function NewApp({ goTo, onCreated }: Props) {
  const words = useMessages()
  const doing = useActions()
  const { draft, faults, write, submit } = useDraft(() => ({ name: '', redirectUris: '' }), faultsOf)
  const [kind, setKind] = useState<(typeof kinds)[number]>('confidential')
  const create: Action = {
    name: 'create-app',
    label: words.developers.create,
    do: () =>
      submit(async ({ name, redirectUris }) => {
        const body = { name, redirectUris: parseUrlList(redirectUris), public: kind === 'public' }
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
        <TextArea
          name="redirectUris"
          label={words.developers.redirectUris}
          hint={words.developers.redirectUrisHint}
          value={draft.redirectUris}
          onInput={(redirectUris) => write({ redirectUris })}
          problem={faults.has('redirectUris') ? words.developers.redirectUrisInvalid : undefined}
        />
        <RadioGroup
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
