import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { NewSsoConnection as Settings, NextSsoConnection } from '@countersign/protocol/organizations/sso'
import { useState } from 'preact/hooks'
import { ApiError } from '../../../lib/api/call.ts'
import { CopyableFields } from '../../../components/display/Copies.tsx'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Field } from '../../../components/form/Field.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import { isText, useKeptState } from '../session/kept-input.ts'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'
import { type Kind, valuesOfNext } from './values-for-provider.ts'

type Props = {
  organization: OwnOrganization
  domains: string[]
  /** What providers ask for before they give the values of the form. */
  next: NextSsoConnection
  onCreated: () => unknown
  onClose: () => void
}

/** Creates a connection for all verified domains: to an OpenID provider or a SAML provider. */
export function NewSsoConnection({ organization, domains, next, onCreated, onClose }: Props) {
  const { sso: words } = useBusinessMessages()
  const { frame } = useMessages()
  const doing = useActions()
  const [kind, setKind] = useKeptState<Kind>('new-connection.kind', 'oidc', isKind)
  const input = useInput()
  const [checked, setChecked] = useState(false)
  const [refused, setRefused] = useState<string>()
  const fields = kind === 'oidc' ? (['issuer', 'clientId', 'clientSecret'] as const) : (['metadataUrl'] as const)

  function problemOf(field: keyof typeof input): string | undefined {
    const [typed] = input[field]
    if (checked && typed.trim() === '') return words.missing
    return field === fields[0] && typed === refused ? words.noProvider : undefined
  }

  const create: Action = {
    name: 'create-connection',
    label: words.create,
    do: async () => {
      setChecked(true)
      const typed = (field: keyof typeof input) => input[field][0].trim()
      if (fields.some((field) => typed(field) === '')) return
      const way: Partial<Settings> =
        kind === 'oidc'
          ? {
              oidc: {
                issuer: typed('issuer'),
                clientId: typed('clientId'),
                clientSecret: typed('clientSecret'),
              },
            }
          : { saml: { metadataUrl: typed('metadataUrl') } }
      const body = { name: hostOf(typed(fields[0])), domains, ...way }
      const path = 'POST /api/organizations/:organizationId/sso-connections'
      try {
        await act(path, { ...memberContext(organization), body })
      } catch (error) {
        if (!(error instanceof ApiError && /^invalid_(issuer|metadata)$/.test(error.code))) throw error
        return setRefused(input[fields[0]][0])
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
      <p>{words.registerFirst[kind]}</p>
      <CopyableFields of={valuesOfNext(next, kind, words)} />
      <p>{words.enterThen[kind]}</p>
      {fields.map((field) => (
        <Field
          key={field}
          name={field}
          label={words.fields[field]}
          hint={words.hints[field]}
          value={input[field][0]}
          onInput={input[field][1]}
          problem={problemOf(field)}
          exact
        />
      ))}
    </ActionForm>
  )
}

function isKind(value: unknown): value is Kind {
  return value === 'oidc' || value === 'saml'
}

/** The fields. The secret is gone when the tab leaves. */
function useInput() {
  return {
    issuer: useKeptState('new-connection.issuer', '', isText),
    clientId: useKeptState('new-connection.clientId', '', isText),
    clientSecret: useState(''),
    metadataUrl: useKeptState('new-connection.metadataUrl', '', isText),
  }
}

/** Returns the default name of a connection: the host of its provider. */
function hostOf(address: string): string {
  return (URL.parse(address)?.host ?? address).slice(0, 80)
}
