import { keyCustodyOfMode } from '@countersign/protocol/formats/role'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { Refused } from '../../../lib/call.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Field } from '../../../components/form/Field.tsx'
import { Options } from '../../../components/form/Options.tsx'
import { useWords } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import { asMember } from '../session/memberships.ts'
import { useBusinessWords } from '../words.ts'

type Mode = OwnOrganization['encryptionMode']
const modes = Object.keys(keyCustodyOfMode).filter(isMode)

function isMode(name: string): name is Mode {
  return Object.hasOwn(keyCustodyOfMode, name)
}

type Props = {
  organization: OwnOrganization
  kmsUrl: string | undefined
  onKept: (organization: OwnOrganization) => unknown
  onClose: () => void
}

/** Chooses who keeps the next key. Where the KMS of an organization is, says also who only looks after its keys. */
export function NewKeeper({ organization, kmsUrl = '', onKept, onClose }: Props) {
  const { keys: words } = useBusinessWords()
  const { frame } = useWords()
  const doing = useDoing()
  const [chosen, setChosen] = useState(organization.encryptionMode)
  const [typed, setTyped] = useState(kmsUrl)
  const [problem, setProblem] = useState<keyof typeof words.kmsVerdicts>()
  const asksForKms = chosen === 'enterprise_managed'
  const keep: Action = {
    name: 'set-keeper',
    label: words.keepSo,
    do: async () => {
      const url = typed.trim()
      if (asksForKms && !URL.canParse(url)) return setProblem('invalid_kms')
      try {
        if (asksForKms && url !== kmsUrl) await setKms(organization, url)
        await onKept(chosen === organization.encryptionMode ? organization : await setMode(organization, chosen))
      } catch (error) {
        if (!(error instanceof Refused && isVerdict(error.code))) throw error
        setProblem(error.code)
      }
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }
  return (
    <ActionForm submit={keep} others={[cancel]} doing={doing}>
      {organization.scopes.includes('manage_org') && (
        <Options
          name="encryptionMode"
          legend={words.keeper}
          of={modes.map((value) => ({ value, label: words.modes[value], about: words.modesWhat[value] }))}
          chosen={[chosen]}
          onChoose={setChosen}
        />
      )}
      {asksForKms && (
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

function isVerdict(code: string): code is 'invalid_kms' | 'kms_without_keys' {
  return code === 'invalid_kms' || code === 'kms_without_keys'
}

async function setKms(organization: OwnOrganization, url: string): Promise<void> {
  await act('PUT /api/organizations/:organizationId/kms', { ...asMember(organization), body: { url } })
}

async function setMode(organization: OwnOrganization, encryptionMode: Mode): Promise<OwnOrganization> {
  const given = { ...asMember(organization), body: { encryptionMode } }
  const changed = await act('PATCH /api/organizations/:organizationId', given)
  return changed.organization
}
