import { DeleteOrganization } from './DeleteOrganization.tsx'
import { OrganizationDetails } from './Description.tsx'
import { RequireSignedActions } from './RequireSignedActions.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { useBusinessMessages } from '../words.ts'

export function Settings({ organization, onChanged, onLeft }: SectionProps) {
  const words = useBusinessMessages()
  return (
    <>
      <section class="step">
        <h1>{words.sections.settings}</h1>
        <OrganizationDetails organization={organization} onChanged={onChanged} />
      </section>
      {organization.scopes.includes('manage_org') && (
        <RequireSignedActions organization={organization} onChanged={onChanged} />
      )}
      {organization.role === 'owner' && <DeleteOrganization organization={organization} onDeleted={onLeft} />}
    </>
  )
}
