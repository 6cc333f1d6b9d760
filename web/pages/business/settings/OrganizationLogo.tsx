import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { OrganizationPicture } from '../../../components/pictures/OrganizationPicture.tsx'
import { act } from '../session/acts.ts'
import { memberContext } from '../session/membership.ts'

type Props = { organization: OwnOrganization; onChanged: (organization: OwnOrganization) => void }

/** Edits the logo of an organization. A member who signs changes does so on the signing page. */
export function OrganizationLogo({ organization, onChanged }: Props) {
  return (
    <OrganizationPicture
      organization={organization}
      onChange={async (body) => {
        const given = { ...memberContext(organization), body }
        onChanged((await act('PATCH /api/organizations/:organizationId', given)).organization)
      }}
    />
  )
}
