import type { Identity } from '@countersign/protocol/accounts/identities'
import { Options } from '../../components/form/Options.tsx'

type Props = { legend: string; identities: Identity[]; chosen: string; onChoose: (identityId: string) => void }

/** As which of their names a person does something; whoever has one only is not asked. */
export function OwnNames({ legend, identities, chosen, onChoose }: Props) {
  if (identities.length < 2) return null
  return (
    <Options
      name="identityId"
      legend={legend}
      of={identities.map(({ identityId, displayName, handle }) => ({
        value: identityId,
        label: displayName,
        about: `@${handle}`,
      }))}
      chosen={[chosen]}
      onChoose={onChoose}
    />
  )
}
