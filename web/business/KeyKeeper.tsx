import type { OwnOrganization } from '@countersign/protocol/organizations'
import { Actions } from '../ui/Actions.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { useBusinessWords } from './words.ts'

type Props = { organization: OwnOrganization; kmsUrl: string | undefined; onChange: () => unknown }

/** Who keeps the next key of an organization: we, its own KMS, or its members alone. */
export function KeyKeeper({ organization: { encryptionMode, scopes }, kmsUrl, onChange }: Props) {
  const { keys: words } = useBusinessWords()
  const doing = useDoing()
  const mayChange = scopes.includes('manage_org') || encryptionMode === 'enterprise_managed'
  const change: Action = { name: 'change-keeper', label: words.change, look: 'secondary', do: onChange }
  return (
    <section class="apart">
      <h2>{words.keeper}</h2>
      <p>
        {words.modes[encryptionMode]}. {words.modesWhat[encryptionMode]}
      </p>
      {kmsUrl !== undefined && <p>{kmsUrl}</p>}
      {mayChange && <Actions of={[change]} doing={doing} />}
    </section>
  )
}
