import type { App } from '@countersign/protocol/clients/apps'
import { useState } from 'preact/hooks'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { optionsOf } from '../acting/options-of.ts'
import { wordsOf } from '../acting/words-of.ts'
import { useAppsMessages } from './words.ts'

type Props = { app: App; onChanged: (app: App) => void; onClose: () => void }

const modes = ['everyone', 'restricted', 'none'] as const

/** Changes who may use an app, and the contact for those who may not. */
export function EditAccess({ app, onChanged, onClose }: Props) {
  const words = useAppsMessages()
  const { ask } = useOperator()
  const { clientId, name, access } = app
  const [mode, setMode] = useState(access.mode)
  const [written, setWritten] = useState(access.groups.join(' '))
  const [writtenSlugs, setWrittenSlugs] = useState(access.organizations.join(' '))
  const [contact, setContact] = useState(access.contact ?? '')
  const groups = wordsOf(written)
  const organizations = wordsOf(writtenSlugs)
  const act = {
    name: 'save-access',
    label: words.save,
    do: async () => {
      const body = { access: { mode, groups, organizations, contact: contact.trim() || null } }
      onChanged(await ask('PATCH /api/admin/apps/:clientId', { params: { clientId }, headers: {}, body }))
      onClose()
      toast(words.saved(isolate(name)))
    },
  }
  const options = [
    ...optionsOf('--access-group', groups),
    ...optionsOf('--access-organization', organizations),
    ...['--access-contact', contact.trim()],
  ]
  return (
    <Ask
      title={words.accessOf(isolate(name))}
      act={act}
      onClose={onClose}
      command={['apps', 'change', clientId, '--access', mode, ...options]}
    >
      <RadioGroup
        name="mode"
        legend={words.access}
        of={modes.map((value) => ({ value, label: words.modes[value], about: words.modesWhat[value] }))}
        chosen={[mode]}
        onChoose={setMode}
      />
      <Field
        name="groups"
        label={words.groups}
        hint={words.groupsHint}
        value={written}
        onInput={setWritten}
        exact
        isCode
      />
      <Field
        name="organizations"
        label={words.organizations}
        hint={words.organizationsHint}
        value={writtenSlugs}
        onInput={setWrittenSlugs}
        exact
        isCode
      />
      <Field name="contact" label={words.contact} hint={words.contactHint} value={contact} onInput={setContact} exact />
    </Ask>
  )
}
