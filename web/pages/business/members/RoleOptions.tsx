import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { Options } from '../../../components/form/Options.tsx'
import { rolesToGive } from '../session/rights.ts'
import { useBusinessWords } from '../words.ts'

type Props = { organization: OwnOrganization; chosen: OrganizationRole; onChoose: (role: OrganizationRole) => void }

/** The roles that the person may give, and what each lets do. */
export function RoleOptions({ organization, chosen, onChoose }: Props) {
  const words = useBusinessWords()
  return (
    <Options
      name="role"
      legend={words.role}
      of={rolesToGive(organization).map((value) => ({
        value,
        label: words.roles[value],
        about: words.rolesWhat[value],
      }))}
      chosen={[chosen]}
      onChoose={onChoose}
    />
  )
}
