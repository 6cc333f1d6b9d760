import { isDisplayName } from '@countersign/protocol/formats/display-name'
import type { SsoConnection, SsoConnectionChange } from '@countersign/protocol/organizations/sso'
import { useState } from 'preact/hooks'
import { ApiError } from '../../../lib/api/call.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Field } from '../../../components/form/Field.tsx'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import { isText, isTexts, rebaseList, rebaseValue, useKeptState } from '../session/kept-input.ts'
import type { connectionRef } from '../session/membership.ts'
import { useReopenedNote } from '../session/ReturnedActNote.tsx'
import { useBusinessMessages, type BusinessWords } from '../words.ts'

type Props = {
  of: SsoConnection
  /** The verified domains of the organization. */
  domains: string[]
  given: ReturnType<typeof connectionRef>
  onChanged: () => unknown
  onClose: () => void
}

/** Edits a connection. Its provider cannot change: another provider needs another connection. */
export function EditSsoConnection({ of: connection, domains, given, onChanged, onClose }: Props) {
  const words = useBusinessMessages()
  const { frame } = useMessages()
  const doing = useActions()
  const form = `change-${connection.connectionId}` as const
  const note = useReopenedNote(form)
  const [name, setName] = useKeptState(`${form}.name`, connection.name, isText, rebaseValue)
  const [chosen, setChosen] = useKeptState(`${form}.domains`, connection.domains, isTexts, rebaseList)
  const [renewed, setRenewed] = useState('')
  const [refused, setRefused] = useState<{ text: string; because: Because }>()
  const field = connection.oidc ? 'clientSecret' : 'metadataUrl'
  const offered = [...new Set([...domains, ...connection.domains])].toSorted()
  const save: Action = {
    name: 'save-connection',
    label: words.save,
    do: async () => {
      if (!isDisplayName(name)) return
      const body = {
        ...(name !== connection.name && { name }),
        ...(!areSame(chosen, connection.domains) && { domains: chosen }),
        ...replacementOf(field, renewed.trim()),
      }
      if (Object.keys(body).length === 0) return onClose()
      const path = 'PATCH /api/organizations/:organizationId/sso-connections/:connectionId'
      try {
        await act(path, { ...given, body })
      } catch (error) {
        const because = renewed === '' ? undefined : becauseOf(error)
        if (!because) throw error
        return setRefused({ text: renewed, because })
      }
      onClose()
      await onChanged()
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.sso.changeTitle} onClose={onClose}>
      {note}
      <ActionForm submit={save} others={[cancel]} doing={doing}>
        <Field
          name="connectionName"
          label={words.name}
          value={name}
          onInput={setName}
          problem={isDisplayName(name) ? undefined : words.nameInvalid}
        />
        {offered.length > 0 && (
          <RadioGroup
            name="domains"
            legend={words.sections.domains}
            of={offered.map((value) => ({ value, label: value }))}
            chosen={chosen}
            several
            onChoose={(domain) => setChosen(offered.filter((each) => chosen.includes(each) !== (each === domain)))}
          />
        )}
        <Field
          name={field}
          label={words.sso.fields[field]}
          hint={words.sso.renewed[field]}
          value={renewed}
          onInput={setRenewed}
          problem={refused?.text === renewed ? words.sso.notReadAgain[refused.because] : undefined}
          exact
        />
      </ActionForm>
    </Dialog>
  )
}

function areSame(chosen: string[], before: string[]): boolean {
  return chosen.length === before.length && chosen.every((domain) => before.includes(domain))
}

type Because = keyof BusinessWords['sso']['notReadAgain']

/** Returns why the metadata was rejected. Some users may edit the connection, but not replace its trusted keys. */
function becauseOf(error: unknown): Because | undefined {
  if (!(error instanceof ApiError)) return undefined
  return error.code === 'invalid_metadata' || error.code === 'insufficient_scope' ? error.code : undefined
}

/** Returns the new secret, or the new metadata URL. An empty input changes nothing. */
function replacementOf(
  field: 'clientSecret' | 'metadataUrl',
  text: string,
): Pick<SsoConnectionChange, 'oidc' | 'saml'> {
  if (text === '') return {}
  return field === 'clientSecret' ? { oidc: { clientSecret: text } } : { saml: { metadataUrl: text } }
}
