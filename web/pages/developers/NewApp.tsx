import type { ResponseOf } from '@countersign/protocol/api'
import { useState } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import { ActionForm } from '../../components/form/Actions.tsx'
import { useActions, type Action } from '../../components/form/use-actions.ts'
import { useDraft } from '../../components/form/draft.ts'
import { Field } from '../../components/form/Field.tsx'
import { TextArea } from '../../components/display/Facts.tsx'
import { RadioGroup } from '../../components/form/Choice.tsx'
import { PageHead } from '../../components/frame/Frame.tsx'
import { Card } from '../../components/ui/Card.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { parseUrlList, faultsOf } from './settings/app-draft.ts'
import type { Navigate } from './routes.ts'
import { useMessages } from './words.ts'

type Created = ResponseOf<'POST /api/developer/apps'>
type Props = { goTo: Navigate; onCreated: (created: Created) => void }

const kinds = ['confidential', 'public'] as const
/** What the code of the quickstart uses. */
const localRedirectUri = 'http://localhost:3000/callback'

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
        const body = {
          name,
          redirectUris: parseUrlList(redirectUris),
          public: kind === 'public',
          // The API has the default of OpenID Connect Registration §2. Nearly all libraries know this one, too.
          idTokenSignedResponseAlg: 'ES256' as const,
        }
        onCreated(await call('POST /api/developer/apps', { body }))
      }),
  }
  const cancel: Action = {
    name: 'cancel',
    label: words.frame.cancel,
    look: 'secondary',
    do: () => goTo({ at: 'list' }),
  }
  const hasLocal = parseUrlList(draft.redirectUris).includes(localRedirectUri)
  return (
    <>
      <PageHead title={words.developers.newTitle} lead={words.developers.newLead} />
      <Card>
        <ActionForm submit={create} others={[cancel]} doing={doing}>
          <Field
            name="name"
            label={words.developers.name}
            hint={words.developers.nameHint}
            value={draft.name}
            onInput={(name) => write({ name })}
            problem={faults.has('name') ? words.register.displayNameInvalid : undefined}
          />
          <div class="stack tight">
            <TextArea
              name="redirectUris"
              label={words.developers.redirectUris}
              hint={words.developers.redirectUrisHint}
              value={draft.redirectUris}
              onInput={(redirectUris) => write({ redirectUris })}
              problem={faults.has('redirectUris') ? words.developers.redirectUrisInvalid : undefined}
            />
            {!hasLocal && (
              <button
                type="button"
                class="button ghost add-local"
                data-action="add-local-redirect-uri"
                onClick={() =>
                  write({ redirectUris: [...parseUrlList(draft.redirectUris), localRedirectUri].join('\n') })
                }
              >
                <Icon name="plus" size="sm" />
                {words.developers.addLocal(localRedirectUri)}
              </button>
            )}
          </div>
          <RadioGroup
            name="kind"
            legend={words.developers.kind}
            of={kinds.map((value) => ({ value, ...words.developers.kinds[value] }))}
            chosen={[kind]}
            onChoose={setKind}
          />
        </ActionForm>
      </Card>
    </>
  )
}
