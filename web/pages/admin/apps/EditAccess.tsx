import type { App } from '@countersign/protocol/clients/apps'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { ApiError } from '../../../lib/api/call.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { optionsOf } from '../acting/options-of.ts'
import { useEntered } from '../acting/use-entered.ts'
import { wordsOf } from '../acting/words-of.ts'
import { useAppsMessages } from './words.ts'

type Props = { app: App; onChanged: (app: App) => void; onClose: () => void }

const modes = ['everyone', 'restricted', 'none'] as const

type Values = { mode: (typeof modes)[number]; groups: string; organizations: string; contact: string }

/** Changes who may use an app, and the contact for those who may not, unless the app was changed meanwhile. */
export function EditAccess({ app, onChanged, onClose }: Props) {
  const words = useAppsMessages()
  const { ask } = useOperator()
  const { clientId, name } = app
  const { draft, enter } = useEntered(valuesOf(app))
  const [groups, organizations] = [wordsOf(draft.groups), wordsOf(draft.organizations)]
  const contact = draft.contact.trim()
  const params = { clientId }
  const act = {
    name: 'save-access',
    label: words.save,
    do: async () => {
      const body = { access: { mode: draft.mode, groups, organizations, contact: contact || null } }
      try {
        const headers = { 'if-match': `"${app.version}"` }
        onChanged(await ask('PATCH /api/admin/apps/:clientId', { params, headers, body }))
      } catch (error) {
        if (error instanceof ApiError && error.code === 'version_mismatch')
          onChanged(await ask('GET /api/admin/apps/:clientId', { params }))
        throw error
      }
      onClose()
      toast(words.saved(isolate(name)))
    },
  }
  const options = [
    ...optionsOf('--access-group', groups),
    ...optionsOf('--access-organization', organizations),
    ...['--access-contact', contact],
  ]
  return (
    <Ask
      title={words.accessOf(isolate(name))}
      act={act}
      onClose={onClose}
      command={['apps', 'change', clientId, '--access', draft.mode, ...options]}
    >
      <RadioGroup
        name="mode"
        legend={words.access}
        of={modes.map((value) => ({ value, label: words.modes[value], about: words.modesWhat[value] }))}
        chosen={[draft.mode]}
        onChoose={(mode) => enter('mode', mode)}
      />
      <TextFields draft={draft} onChange={enter} />
    </Ask>
  )
}

/** Returns what the fields show of an app. Its groups and organizations have no order. */
function valuesOf({ access: { mode, groups, organizations, contact } }: App): Values {
  return {
    mode,
    groups: groups.toSorted().join(' '),
    organizations: organizations.toSorted().join(' '),
    contact: contact ?? '',
  }
}

type FieldsProps = { draft: Values; onChange: (name: 'groups' | 'organizations' | 'contact', text: string) => void }

function TextFields({ draft, onChange }: FieldsProps) {
  const words = useAppsMessages()
  return (
    <>
      <Field
        name="groups"
        label={words.groups}
        hint={words.groupsHint}
        value={draft.groups}
        onInput={(text) => onChange('groups', text)}
        exact
        isCode
      />
      <Field
        name="organizations"
        label={words.organizations}
        hint={words.organizationsHint}
        value={draft.organizations}
        onInput={(text) => onChange('organizations', text)}
        exact
        isCode
      />
      <Field
        name="contact"
        label={words.contact}
        hint={words.contactHint}
        value={draft.contact}
        onInput={(text) => onChange('contact', text)}
        exact
      />
    </>
  )
}
