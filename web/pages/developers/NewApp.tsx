import type { ResponseOf } from '@countersign/protocol/api'
import { useEffect, useRef } from 'preact/hooks'
import { atHandle } from '../../lib/text/handle.ts'
import { parseUrlList } from '../../lib/urls.ts'
import { ActionForm } from '../../components/form/Actions.tsx'
import { useActions, type Action } from '../../components/form/use-actions.ts'
import { useDraft } from '../../components/form/draft.ts'
import { Field } from '../../components/form/Field.tsx'
import { TextArea } from '../../components/display/Facts.tsx'
import { RadioGroup } from '../../components/form/Choice.tsx'
import { PageHead } from '../../components/frame/Frame.tsx'
import { useUriProblem } from '../../components/uris/uri-problems.ts'
import { Card } from '../../components/ui/Card.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { postLogoutRedirectUrisFor } from './quickstart/recipes.ts'
import { faultsOf } from './settings/app-draft.ts'
import { rulesFor } from '../../lib/uris/redirect-uris.ts'
import type { RegisteredApp, Registration } from './register-app.ts'
import type { Navigate } from './routes.ts'
import type { KeptInput } from './unsaved/kept-input.ts'
import { useMessages } from './words.ts'

type Identity = ResponseOf<'GET /api/auth/session'>['identities'][number]
type Props = {
  identities: Identity[]
  kept: KeptInput<NewAppDraft>
  goTo: Navigate
  register: (app: Registration) => Promise<RegisteredApp>
  onCreated: (created: RegisteredApp) => void
}

const kinds = ['confidential', 'public'] as const

/** The input for a new app. URIs are one per line. */
export type NewAppDraft = { name: string; redirectUris: string; kind: (typeof kinds)[number]; identityId: string }

/** Where the input is kept. */
const form = 'new app'
/** What the code of the quickstart uses. */
const localRedirectUri = 'http://localhost:3000/callback'

export function NewApp({ identities, kept, goTo, register, onCreated }: Props) {
  const words = useMessages()
  const doing = useActions()
  const { draft, faults, write, submit } = useNewAppDraft(identities, kept)
  const { kind, identityId } = draft
  const create: Action = {
    name: 'create-app',
    label: words.developers.create,
    do: () =>
      submit(async () => {
        const created = await register(registrationOf(draft))
        kept.drop(form, (present) => present === draft)
        onCreated(created)
      }),
  }
  const cancel: Action = {
    name: 'cancel',
    label: words.frame.cancel,
    look: 'secondary',
    do: () => {
      kept.drop(form)
      goTo({ at: 'list' })
    },
  }
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
          <NewRedirectUris
            value={draft.redirectUris}
            isPublic={kind === 'public'}
            hasFault={faults.has('redirectUris')}
            onInput={(redirectUris) => write({ redirectUris })}
          />
          <RadioGroup
            name="kind"
            legend={words.developers.kind}
            of={kinds.map((value) => ({ value, ...words.developers.kinds[value] }))}
            chosen={[kind]}
            onChoose={(chosen) => write({ kind: chosen })}
          />
          {identities.length > 1 && (
            <OwnerChoice
              identities={identities}
              chosen={identityId}
              onChoose={(chosen) => write({ identityId: chosen })}
            />
          )}
        </ActionForm>
      </Card>
    </>
  )
}

/** Returns the draft of a new app, which is kept while other views are shown. */
function useNewAppDraft(identities: Identity[], kept: KeptInput<NewAppDraft>) {
  const state = useDraft(
    (): NewAppDraft => kept.of(form) ?? emptyDraft(identities),
    ({ name, redirectUris, kind }) => faultsOf({ name, redirectUris }, rulesFor(kind === 'public')),
  )
  const { draft } = state
  useEffect(() => {
    if (draft.name === '' && draft.redirectUris === '') kept.drop(form)
    else kept.keep(form, draft)
  }, [draft])
  return state
}

function registrationOf({ name, redirectUris: text, kind, identityId }: NewAppDraft): Registration {
  const redirectUris = parseUrlList(text)
  return {
    ...{ name, redirectUris, public: kind === 'public', identityId },
    postLogoutRedirectUris: postLogoutRedirectUrisFor(redirectUris),
    // The API has the default of OpenID Connect Registration §2. Nearly all libraries know this one, too.
    idTokenSignedResponseAlg: 'ES256',
  }
}

function emptyDraft([first]: Identity[]): NewAppDraft {
  return { name: '', redirectUris: '', kind: 'confidential', identityId: first?.identityId ?? '' }
}

type OwnerChoiceProps = Pick<Props, 'identities'> & { chosen: string; onChoose: (identityId: string) => void }

/** The identity as which the user registers the app. */
function OwnerChoice({ identities, chosen, onChoose }: OwnerChoiceProps) {
  const words = useMessages().developers
  return (
    <RadioGroup
      name="identityId"
      legend={words.registerAs}
      hint={words.registerAsHint}
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

type RedirectUrisProps = { value: string; isPublic: boolean; hasFault: boolean; onInput: (text: string) => void }

/** The redirect URIs of a new app, and a suggestion for trying it out. */
function NewRedirectUris({ value, isPublic, hasFault, onInput }: RedirectUrisProps) {
  const messages = useMessages()
  const words = messages.developers
  const uris = parseUrlList(value)
  const problem = useUriProblem(hasFault ? uris : [], isPublic, messages.redirects)
  const room = useRef<HTMLDivElement>(null)
  return (
    <div class="stack tight" ref={room}>
      <TextArea
        name="redirectUris"
        label={words.redirectUris}
        hint={words.redirectUrisHint}
        value={value}
        onInput={onInput}
        problem={hasFault ? (problem ?? words.redirectUrisInvalid) : undefined}
      />
      {!uris.includes(localRedirectUri) && (
        <button
          type="button"
          class="button ghost add-local"
          data-action="add-local-redirect-uri"
          onClick={() => {
            onInput([...uris, localRedirectUri].join('\n'))
            // This button goes.
            room.current?.querySelector('textarea')?.focus()
          }}
        >
          <Icon name="plus" size="sm" />
          {words.addLocal(localRedirectUri)}
        </button>
      )}
    </div>
  )
}
