import { DeleteOrganization } from './DeleteOrganization.tsx'
import { OrganizationDetails } from './Description.tsx'
import { OrganizationLogo } from './OrganizationLogo.tsx'
import { RequireSignedActions } from './RequireSignedActions.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { useBusinessMessages } from '../words.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { PageHead } from '../../../components/frame/Frame.tsx'

export function Settings({ organization, onChanged, onLeft }: SectionProps) {
  const words = useBusinessMessages()
  return (
    <>
      <PageHead title={words.sections.settings} lead={words.settingsLead} />
      <Card title={words.details}>
        {organization.scopes.includes('manage_org') && (
          <OrganizationLogo organization={organization} onChanged={onChanged} />
        )}
        <OrganizationDetails organization={organization} onChanged={onChanged} />
      </Card>
      {organization.scopes.includes('manage_org') && (
        <RequireSignedActions organization={organization} onChanged={onChanged} />
      )}
      {organization.role === 'owner' && <DeleteOrganization organization={organization} onDeleted={onLeft} />}
    </>
  )
}
