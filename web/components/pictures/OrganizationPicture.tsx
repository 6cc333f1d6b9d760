import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { uploadBusinessPicture } from '../../lib/api/business-call.ts'
import { PictureEditor } from './PictureEditor.tsx'

/** Change of an organization that sets or removes its logo. A signature names the digest of the picture. */
export type LogoChange = { logoUrl: string; logoSha256: string } | { logoUrl: null }

type Props = {
  organization: Pick<OwnOrganization, 'id' | 'identityId' | 'name' | 'logoUrl'>
  /** Changes the organization, which a member may have to sign on another page. */
  onChange: (change: LogoChange) => Promise<void>
}

/** Edits the logo of an organization. It is uploaded first, and then set like any other change. */
export function OrganizationPicture({ organization: { id, identityId, name, logoUrl }, onChange }: Props) {
  const given = { params: { organizationId: id }, querystring: { identity_id: identityId } }
  return (
    <PictureEditor
      current={logoUrl}
      name={name}
      kind="organization"
      toneOf={id}
      onSave={async (picture) => {
        const { picture: offered } = await uploadBusinessPicture(given, picture)
        await onChange({ logoUrl: offered.url, logoSha256: offered.sha256 })
      }}
      onRemove={() => onChange({ logoUrl: null })}
    />
  )
}
