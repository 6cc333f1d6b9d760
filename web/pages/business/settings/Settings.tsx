import { Approvals } from './Approvals.tsx'
import { DeleteOrganization } from './DeleteOrganization.tsx'
import { Description } from './Description.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { RequireSigned } from './RequireSigned.tsx'
import { useBusinessWords } from '../words.ts'

export function Settings({ organization, onChanged, onLeft }: SectionProps) {
  const words = useBusinessWords()
  return (
    <>
      <section class="step">
        <h1>{words.sections.settings}</h1>
        <Description organization={organization} onChanged={onChanged} />
      </section>
      {organization.scopes.includes('manage_org') && (
        <>
          <Approvals organization={organization} onChanged={onChanged} />
          <RequireSigned organization={organization} onChanged={onChanged} />
        </>
      )}
      {organization.role === 'owner' && <DeleteOrganization organization={organization} onDeleted={onLeft} />}
    </>
  )
}
