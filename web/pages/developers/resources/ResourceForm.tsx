import type { Resource } from '@countersign/protocol/clients/resources'
import { useEffect } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useDraft } from '../../../components/form/draft.ts'
import { Field } from '../../../components/form/Field.tsx'
import { TextArea } from '../../../components/display/Facts.tsx'
import { changeOf, draftOf, emptyDraft, faultsOf, newResourceOf, type ResourceDraft } from './resource-draft.ts'
import type { KeptInput } from '../unsaved/kept-input.ts'
import { useMessages } from '../words.ts'

/** What is typed into the form of a resource of an app, or of a new one. */
export type ResourceInput = { resourceKey: string | undefined; draft: ResourceDraft }

type Props = {
  clientId: string
  /** The resource to edit. Undefined for a new one. */
  resource: Resource | undefined
  kept: KeptInput<ResourceInput>
  onSaved: (resource: Resource) => void
  onClose: () => void
}

export function ResourceForm({ clientId, resource, kept, onSaved, onClose }: Props) {
  const { resources: words, developers, frame } = useMessages()
  const doing = useActions()
  const start = resource ? draftOf(resource) : emptyDraft
  const resourceKey = resource?.resourceKey
  const { draft, faults, write, submit } = useDraft(
    () => inputFor(resource, kept.of(clientId))?.draft ?? start,
    faultsOf,
  )
  useEffect(() => {
    if (JSON.stringify(draft) === JSON.stringify(start)) kept.drop(clientId)
    else kept.keep(clientId, { resourceKey, draft })
  }, [draft])
  const close = () => {
    kept.drop(clientId)
    onClose()
  }
  const save: Action = {
    name: resource ? 'save-resource' : 'create-resource',
    label: resource ? developers.save : words.create,
    do: () =>
      submit(async () => {
        const saved = resource ? await change(clientId, resource, draft) : await create(clientId, draft)
        kept.drop(clientId, (present) => present.draft === draft)
        onSaved(saved)
      }),
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: close }
  return (
    <Dialog title={resource ? words.changeTitle(resource.displayName) : words.add} onClose={close}>
      <ActionForm submit={save} others={[cancel]} doing={doing}>
        <Fields draft={draft} isNew={resource === undefined} hasFault={(field) => faults.has(field)} onChange={write} />
      </ActionForm>
    </Dialog>
  )
}

/** Returns the input for a resource, or for a new one: its form is open. */
export function inputFor(resource: Resource | undefined, input: ResourceInput | undefined): ResourceInput | undefined {
  return input?.resourceKey === resource?.resourceKey ? input : undefined
}

function create(clientId: string, draft: ResourceDraft): Promise<Resource> {
  const given = { params: { clientId }, body: newResourceOf(draft) }
  return call('POST /api/developer/apps/:clientId/resources', given)
}

async function change(clientId: string, resource: Resource, draft: ResourceDraft): Promise<Resource> {
  const body = changeOf(resource, draft)
  if (Object.keys(body).length === 0) return resource
  const given = { params: { clientId, resourceKey: resource.resourceKey }, body }
  return withRecentAuthentication(() => call('PATCH /api/developer/apps/:clientId/resources/:resourceKey', given))
}

type FieldsProps = {
  draft: ResourceDraft
  isNew: boolean
  hasFault: (field: keyof ResourceDraft) => boolean
  onChange: (change: Partial<ResourceDraft>) => void
}

function Fields({ draft, isNew, hasFault, onChange }: FieldsProps) {
  const { resources: words, developers, register } = useMessages()
  return (
    <>
      <Field
        name="displayName"
        label={developers.name}
        hint={words.nameHint}
        value={draft.displayName}
        onInput={(displayName) => onChange({ displayName })}
        problem={hasFault('displayName') ? register.displayNameInvalid : undefined}
      />
      {isNew && (
        <Field
          name="resourceKey"
          label={words.key}
          hint={words.keyHint}
          value={draft.resourceKey}
          onInput={(resourceKey) => onChange({ resourceKey })}
          problem={hasFault('resourceKey') ? words.keyInvalid : undefined}
          exact
        />
      )}
      <Field
        name="audience"
        label={words.audience}
        hint={words.audienceHint}
        value={draft.audience}
        onInput={(audience) => onChange({ audience })}
        problem={hasFault('audience') ? words.audienceInvalid : undefined}
        keys="url"
        exact
      />
      <TextArea
        name="scopes"
        label={developers.scopes}
        hint={words.scopesHint}
        value={draft.scopes}
        onInput={(scopes) => onChange({ scopes })}
        problem={hasFault('scopes') ? words.scopesInvalid : undefined}
        keys="text"
      />
    </>
  )
}
