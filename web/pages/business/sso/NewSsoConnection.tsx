import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { NewSsoConnection as Settings } from '@countersign/protocol/organizations/sso'
import { useState } from 'preact/hooks'
import { ApiError } from '../../../lib/api/call.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Field } from '../../../components/form/Field.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'

type Props = {
  organization: OwnOrganization
  domains: string[]
  onCreated: () => unknown
  onClose: () => void
}

/** Creates a connection for all verified domains: to an OpenID provider or a SAML provider. */
export function NewSsoConnection({ organization, domains, onCreated, onClose }: Props) {
  const { sso: words } = useBusinessMessages()
  const { frame } = useMessages()
  const doing = useActions()
  const [kind, setKind] = useState<'oidc' | 'saml'>('oidc')
  const [typed, setTyped] = useState({ issuer: '', clientId: '', clientSecret: '', metadataUrl: '' })
  const [checked, setChecked] = useState(false)
  const [refused, setRefused] = useState<string>()
  const fields = kind === 'oidc' ? (['issuer', 'clientId', 'clientSecret'] as const) : (['metadataUrl'] as const)

  function problemOf(field: keyof typeof typed): string | undefined {
    if (checked && typed[field].trim() === '') return words.missing
    return field === fields[0] && typed[field] === refused ? words.noProvider : undefined
  }

  const create: Action = {
    name: 'create-connection',
    label: words.create,
    do: async () => {
      setChecked(true)
      if (fields.some((field) => typed[field].trim() === '')) return
      const { issuer, clientId, clientSecret, metadataUrl } = typed
      const way: Partial<Settings> =
        kind === 'oidc'
          ? { oidc: { issuer: issuer.trim(), clientId: clientId.trim(), clientSecret: clientSecret.trim() } }
          : { saml: { metadataUrl: metadataUrl.trim() } }
      const body = { name: hostOf(kind === 'oidc' ? issuer : metadataUrl), domains, ...way }
      const path = 'POST /api/organizations/:organizationId/sso-connections'
      try {
        await act(path, { ...memberContext(organization), body })
      } catch (error) {
        if (!(error instanceof ApiError && /^invalid_(issuer|metadata)$/.test(error.code))) throw error
        return setRefused(typed[fields[0]])
      }
      await onCreated()
    },
  }
  const other = kind === 'oidc' ? 'saml' : 'oidc'
  const others: Action[] = [
    { name: `by-${other}`, label: words.instead[other], look: 'quiet', do: () => setKind(other) },
    { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose },
  ]
  return (
    <ActionForm submit={create} others={others} doing={doing}>
      <h2>{words.titles[kind]}</h2>
      {fields.map((field) => (
        <Field
          key={field}
          name={field}
          label={words.fields[field]}
          hint={words.hints[field]}
          value={typed[field]}
          onInput={(text) => setTyped({ ...typed, [field]: text })}
          problem={problemOf(field)}
          exact
        />
      ))}
    </ActionForm>
  )
}

/** Returns the default name of a connection: the host of its provider. */
function hostOf(address: string): string {
  return (URL.parse(address.trim())?.host ?? address.trim()).slice(0, 80)
}
