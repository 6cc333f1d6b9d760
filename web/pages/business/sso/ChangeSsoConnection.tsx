import { isDisplayName } from '@countersign/protocol/formats/display-name'
import type { SsoConnection, SsoConnectionChange } from '@countersign/protocol/organizations/sso'
import { useState } from 'preact/hooks'
import { Refused } from '../../../lib/call.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Field } from '../../../components/form/Field.tsx'
import { Options } from '../../../components/form/Options.tsx'
import { useWords } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import type { aboutConnection } from '../session/memberships.ts'
import { useBusinessWords, type BusinessWords } from '../words.ts'

type Props = {
  of: SsoConnection
  /** The verified domains of the organization. */
  domains: string[]
  given: ReturnType<typeof aboutConnection>
  onChanged: () => unknown
  onClose: () => void
}

/** What may change of a connection. Whose provider it is stays: for another one there is another connection. */
export function ChangeSsoConnection({ of: connection, domains, given, onChanged, onClose }: Props) {
  const words = useBusinessWords()
  const { frame } = useWords()
  const doing = useDoing()
  const [name, setName] = useState(connection.name)
  const [chosen, setChosen] = useState(connection.domains)
  const [renewed, setRenewed] = useState('')
  const [refused, setRefused] = useState<{ text: string; because: Because }>()
  const field = connection.oidc ? 'clientSecret' : 'metadataUrl'
  const offered = [...new Set([...domains, ...connection.domains])].toSorted()
  const save: Action = {
    name: 'save-connection',
    label: words.save,
    do: async () => {
      if (!isDisplayName(name)) return
      const body = { ...(name !== connection.name && { name }), domains: chosen, ...anew(field, renewed.trim()) }
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
      <ActionForm submit={save} others={[cancel]} doing={doing}>
        <Field
          name="connectionName"
          label={words.name}
          value={name}
          onInput={setName}
          problem={isDisplayName(name) ? undefined : words.nameInvalid}
        />
        {offered.length > 0 && (
          <Options
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

type Because = keyof BusinessWords['sso']['notReadAgain']

/** Why metadata was not taken: whoever sees this may change the connection, but not have other keys believed. */
function becauseOf(error: unknown): Because | undefined {
  if (!(error instanceof Refused)) return undefined
  return error.code === 'invalid_metadata' || error.code === 'insufficient_scope' ? error.code : undefined
}

/** The new secret, or where to read the metadata again; where that is left empty, all of it stays. */
function anew(field: 'clientSecret' | 'metadataUrl', text: string): Pick<SsoConnectionChange, 'oidc' | 'saml'> {
  if (text === '') return {}
  return field === 'clientSecret' ? { oidc: { clientSecret: text } } : { saml: { metadataUrl: text } }
}
