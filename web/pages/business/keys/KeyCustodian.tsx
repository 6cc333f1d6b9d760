import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { ApiError } from '../../../lib/api/call.ts'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { act } from '../session/acts.ts'
import { isText, rebaseValue, useKeptState } from '../session/kept-input.ts'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'
import { keyCustodyOfMode } from '@countersign/protocol/formats/role'
import { useState } from 'preact/hooks'
import { Field } from '../../../components/form/Field.tsx'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import { Card } from '../../../components/ui/Card.tsx'

type KeyCustodyProps = {
  organization: OwnOrganization
  keys: OrganizationKey[]
  kmsUrl: string | undefined
  onChange: () => unknown
  onRemoved: () => unknown
}

/** Shows who stores the next key of an organization: this service, the organization's KMS, or its members alone. */
export function KeyCustody({ organization, keys, kmsUrl, onChange, onRemoved }: KeyCustodyProps) {
  const { encryptionMode, scopes } = organization
  const { keys: words } = useBusinessMessages()
  const doing = useActions()
  const change: Action = { name: 'change-keeper', label: words.change, look: 'secondary', do: onChange }
  const isKeeper = encryptionMode === 'enterprise_managed'
  const mayChange = scopes.includes('manage_org') || isKeeper
  const isFormer = kmsUrl !== undefined && !isKeeper
  const opensKeys = keys.some(({ keyCustody }) => keyCustody === 'customer_kms')
  const remove: Action = {
    name: 'remove-kms',
    label: words.removeKms,
    look: 'quiet',
    do: async () => {
      const given = { ...memberContext(organization), body: null }
      await act('DELETE /api/organizations/:organizationId/kms', given).catch(acceptGone)
      await onRemoved()
    },
  }
  const actions = [...(mayChange ? [change] : []), ...(isFormer && !opensKeys ? [remove] : [])]
  return (
    <Card title={words.keeper}>
      <p>
        {words.modes[encryptionMode]}. {words.modesWhat[encryptionMode]}
      </p>
      {isKeeper && <p>{kmsUrl}</p>}
      {isFormer && <p>{opensKeys ? words.kmsOpens(kmsUrl) : words.kmsStays(kmsUrl)}</p>}
      <Actions of={actions} doing={doing} />
    </Card>
  )
}

/** Ignores that the KMS was already removed from another tab. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'kms_not_found')) throw error
}

type Mode = OwnOrganization['encryptionMode']
const modes = Object.keys(keyCustodyOfMode).filter(isMode)

function isMode(name: unknown): name is Mode {
  return typeof name === 'string' && Object.hasOwn(keyCustodyOfMode, name)
}

type ChangeKeyCustodyProps = {
  organization: OwnOrganization
  kmsUrl: string | undefined
  /** The mode that is chosen at first. */
  mode: Mode
  onSaved: (organization: OwnOrganization) => unknown
  onClose: () => void
}

/** Sets who stores the next key, and the URL of the KMS. Members who may only manage keys can only change the URL. */
export function ChangeKeyCustody({ organization, kmsUrl = '', mode, onSaved, onClose }: ChangeKeyCustodyProps) {
  const { keys: words } = useBusinessMessages()
  const { frame } = useMessages()
  const doing = useActions()
  const [chosen, setChosen] = useKeptState('keeper.mode', mode, isMode)
  const [typed, setTyped] = useKeptState('keeper.kms', kmsUrl, isText, rebaseValue)
  const [problem, setProblem] = useState<keyof typeof words.kmsVerdicts>()
  const needsKms = chosen === 'enterprise_managed'
  const save: Action = {
    name: 'set-keeper',
    label: words.save,
    do: async () => {
      const url = typed.trim()
      if (needsKms && !URL.canParse(url)) return setProblem('invalid_kms')
      try {
        if (needsKms && url !== kmsUrl) await setKms(organization, url)
        await onSaved(chosen === organization.encryptionMode ? organization : await setMode(organization, chosen))
      } catch (error) {
        if (!(error instanceof ApiError && isVerdict(error.code))) throw error
        setProblem(error.code)
      }
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }
  return (
    <ActionForm submit={save} others={[cancel]} doing={doing}>
      {organization.scopes.includes('manage_org') && (
        <RadioGroup
          name="encryptionMode"
          legend={words.keeper}
          of={modes.map((value) => ({ value, label: words.modes[value], about: words.modesWhat[value] }))}
          chosen={[chosen]}
          onChoose={setChosen}
        />
      )}
      {needsKms && (
        <Field
          name="kmsUrl"
          label={words.kms}
          value={typed}
          onInput={(text) => {
            setProblem(undefined)
            setTyped(text)
          }}
          problem={problem && words.kmsVerdicts[problem]}
          keys="url"
          exact
        />
      )}
    </ActionForm>
  )
}

function isVerdict(code: string): code is 'invalid_kms' | 'kms_cannot_unwrap' {
  return code === 'invalid_kms' || code === 'kms_cannot_unwrap'
}

async function setKms(organization: OwnOrganization, url: string): Promise<void> {
  await act('PUT /api/organizations/:organizationId/kms', { ...memberContext(organization), body: { url } })
}

async function setMode(organization: OwnOrganization, encryptionMode: Mode): Promise<OwnOrganization> {
  const given = { ...memberContext(organization), body: { encryptionMode } }
  const changed = await act('PATCH /api/organizations/:organizationId', given)
  return changed.organization
}
