import type { ResponseOf } from '@countersign/protocol/api'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { defaultAllowedScopes, type StandardScope, standardScopes } from '@countersign/protocol/formats/scope'
import { useState } from 'preact/hooks'
import { CopyableFields } from '../../../components/display/Copies.tsx'
import { TextArea } from '../../../components/display/Facts.tsx'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { useUriProblem } from '../../../components/uris/uri-problems.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { redirectUriFault, rulesFor } from '../../../lib/uris/redirect-uris.ts'
import { parseUrlList } from '../../../lib/urls.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { ShownOnce } from '../acting/ShownOnce.tsx'
import { useAppsMessages } from './words.ts'

export type CreatedApp = ResponseOf<'POST /api/admin/apps'>

type Draft = { name: string; redirectUris: string; kind: (typeof kinds)[number]; scopes: StandardScope[] }

const kinds = ['confidential', 'public'] as const

/** Asks for what a new app needs. Its secret is shown once, afterwards. */
export function NewApp({ onCreated, onClose }: { onCreated: (created: CreatedApp) => void; onClose: () => void }) {
  const words = useAppsMessages()
  const { ask } = useOperator()
  const [draft, setDraft] = useState<Draft>({
    ...{ name: '', redirectUris: '', kind: 'confidential', scopes: [...defaultAllowedScopes] },
  })
  const [isChecked, setChecked] = useState(false)
  const isPublic = draft.kind === 'public'
  const name = draft.name.trim()
  const redirectUris = parseUrlList(draft.redirectUris)
  const allowedScopes = standardScopes.filter((scope) => draft.scopes.includes(scope))
  const act = {
    name: 'create-app',
    label: words.create,
    do: async () => {
      setChecked(true)
      if (!isDisplayName(name) || !areAllowed(redirectUris, isPublic)) return
      const body = { name, redirectUris, allowedScopes, public: isPublic }
      onCreated(await ask('POST /api/admin/apps', { body }))
    },
  }
  return (
    <Ask
      title={words.add}
      act={act}
      onClose={onClose}
      command={[
        ...['apps', 'create', '--name', name || '…'],
        ...(redirectUris.length === 0 ? ['…'] : redirectUris).flatMap((uri) => ['--redirect-uri', uri]),
        ...['--scope', allowedScopes.join(' ')],
        ...(isPublic ? ['--public'] : []),
      ]}
    >
      <DraftFields draft={draft} isChecked={isChecked} onChange={(changed) => setDraft({ ...draft, ...changed })} />
    </Ask>
  )
}

type FieldsProps = { draft: Draft; isChecked: boolean; onChange: (changed: Partial<Draft>) => void }

function DraftFields({ draft, isChecked, onChange }: FieldsProps) {
  const words = useAppsMessages()
  const { name, redirectUris, kind, scopes } = draft
  const isPublic = kind === 'public'
  const uris = parseUrlList(redirectUris)
  const hasFault = isChecked && !areAllowed(uris, isPublic)
  const problem = useUriProblem(hasFault ? uris : [], isPublic, words.redirects)
  return (
    <>
      <Field
        name="name"
        label={words.appName}
        value={name}
        onInput={(written) => onChange({ name: written })}
        problem={isChecked && !isDisplayName(name.trim()) ? words.nameMissing : undefined}
      />
      <TextArea
        name="redirectUris"
        label={words.redirectUris}
        hint={words.redirectUrisHint}
        value={redirectUris}
        onInput={(written) => onChange({ redirectUris: written })}
        problem={hasFault ? (problem ?? words.redirectUrisProblem) : undefined}
      />
      <RadioGroup
        name="kind"
        legend={words.kind}
        of={kinds.map((value) => ({ value, ...words.kinds[value] }))}
        chosen={[kind]}
        onChoose={(chosen) => onChange({ kind: chosen })}
      />
      <RadioGroup
        name="scopes"
        legend={words.scopes}
        of={standardScopes.map((value) => ({ value, label: value, about: words.scopeGives[value] }))}
        chosen={scopes}
        several
        onChoose={(scope) =>
          onChange({ scopes: scopes.includes(scope) ? scopes.filter((each) => each !== scope) : [...scopes, scope] })
        }
      />
    </>
  )
}

/** Checks whether the service accepts all redirect URIs of an app, as far as that is certain before it sees them. */
function areAllowed(uris: string[], isPublic: boolean): boolean {
  const rules = rulesFor(isPublic)
  return uris.length > 0 && uris.every((uri) => redirectUriFault(uri, rules) === undefined)
}

type CreatedProps = { of: CreatedApp; onClose: () => void }

/** Shows the credentials of a new app. Its secret cannot be shown again. */
export function CreatedAppDialog({ of: { name, clientId, clientSecret }, onClose }: CreatedProps) {
  const words = useAppsMessages()
  const title = words.registered(isolate(name))
  const credentials = <CopyableFields of={[{ label: words.clientId, value: clientId, action: 'copy-client-id' }]} />
  if (clientSecret === undefined)
    return (
      <Dialog title={title} onClose={onClose}>
        {credentials}
        <div class="actions">
          <button type="button" class="button primary" data-action="app-created" onClick={onClose}>
            {words.close}
          </button>
        </div>
      </Dialog>
    )
  return (
    <ShownOnce
      title={title}
      name="client-secret"
      text={clientSecret}
      words={{ what: words.secret, once: words.secretOnce, saved: words.secretSaved }}
      onClose={onClose}
    >
      {credentials}
    </ShownOnce>
  )
}
