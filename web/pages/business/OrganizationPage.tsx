import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import { RouteLink } from '../../components/frame/route.tsx'
import { PageHead } from '../../components/frame/Frame.tsx'
import type { ReturnedAct } from '../../lib/acts/returning.ts'
import { Loaded } from './Loaded.tsx'
import { uniqueBy } from './session/membership.ts'
import { OrganizationSsoPrompt } from './sso/OwnSignIn.tsx'
import { routePath, type Navigate, type BusinessRoute } from './routes.ts'
import type { Section } from './sections.ts'
import { useBusinessMessages } from './words.ts'

type Props = {
  place: Extract<BusinessRoute, { at: 'organization' }>
  goTo: Navigate
  identities: Identity[]
  organizations: OwnOrganization[]
  /** The act that the user has just signed, or not signed. */
  returned: ReturnedAct | undefined
  onChanged: (organization: OwnOrganization) => void
  /** Called with a member whose permissions were changed, who may be the user. */
  onMemberChanged: (member: OrganizationMember) => void
  /** Called if the organization was deleted or the user left it, or if the given member of theirs was removed. */
  onLeft: (memberId?: string) => void
}

/** The properties of each section. */
export type SectionProps = Omit<Props, 'place' | 'organizations'> & {
  organization: OwnOrganization
}

export function OrganizationPage({ place, organizations, ...others }: Props) {
  const [enteredAs, setEnteredAs] = useState<string>()
  const memberships = organizations.filter(({ id }) => id === place.organizationId)
  const organization = memberships.find(({ identityId }) => identityId === enteredAs) ?? uniqueBy(memberships)[0]
  if (!organization) {
    const unknown = <Unknown goTo={others.goTo} />
    if (place.section !== 'council') return unknown
    return <Loaded load={loadFormer} given={{ organizationId: place.organizationId, otherwise: unknown }} />
  }
  const { section } = place
  return (
    <OrganizationSsoPrompt
      organization={organization}
      identities={others.identities}
      onEntered={setEnteredAs}
      onLeft={others.onLeft}
    >
      <Loaded key={section} load={loaders[section]} given={{ organization, ...others }} />
    </OrganizationSsoPrompt>
  )
}

/** Each section is loaded when it is opened. */
const loaders: Record<Section, () => Promise<ComponentType<SectionProps>>> = {
  overview: async () => (await import('./overview/Overview.tsx')).Overview,
  members: async () => (await import('./members/Members.tsx')).Members,
  documents: async () => (await import('./documents/Documents.tsx')).Documents,
  activity: async () => (await import('./activity/Activity.tsx')).Activity,
  domains: async () => (await import('./domains/Domains.tsx')).Domains,
  sso: async () => (await import('./sso/SsoConnections.tsx')).SsoConnections,
  directory: async () => (await import('./directory/DirectorySync.tsx')).DirectorySync,
  keys: async () => (await import('./keys/Keys.tsx')).Keys,
  council: async () => (await import('./council/CouncilSection.tsx')).CouncilSection,
  settings: async () => (await import('./settings/Settings.tsx')).Settings,
}
const loadFormer = async () => (await import('./council/FormerSignatory.tsx')).FormerSignatory

function Unknown({ goTo }: Pick<Props, 'goTo'>) {
  const words = useBusinessMessages()
  return (
    <PageHead
      title={words.unknown}
      lead={words.unknownWhy}
      actions={
        <RouteLink class="button" href={routePath({ at: 'list' })} onFollow={() => goTo({ at: 'list' })}>
          {words.title}
        </RouteLink>
      }
    />
  )
}
