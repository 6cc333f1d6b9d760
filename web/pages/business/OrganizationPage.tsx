import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { Activity } from './settings/Activity.tsx'
import { Domains } from './domains/Domains.tsx'
import { Keys } from './keys/Keys.tsx'
import { Members } from './members/Members.tsx'
import { eachOnce } from './session/memberships.ts'
import { Navigation } from './Navigation.tsx'
import { OwnSignIn } from './sso/OwnSignIn.tsx'
import { pathOf, type GoTo, type Place } from './places.ts'
import { Settings } from './settings/Settings.tsx'
import { SsoConnections } from './sso/SsoConnections.tsx'
import { useBusinessWords } from './words.ts'

type Props = {
  place: Extract<Place, { at: 'organization' }>
  goTo: GoTo
  identities: Identity[]
  organizations: OwnOrganization[]
  onChanged: (organization: OwnOrganization) => void
  /** The organization is gone, or the person is no longer in it; or that name of theirs which is given. */
  onLeft: (memberId?: string) => void
}

/** What each section is given. */
export type SectionProps = Pick<Props, 'onChanged' | 'onLeft' | 'identities'> & { organization: OwnOrganization }

export function OrganizationPage({ place, goTo, organizations, ...others }: Props) {
  const [enteredAs, setEnteredAs] = useState<string>()
  const memberships = organizations.filter(({ id }) => id === place.organizationId)
  const organization = memberships.find(({ identityId }) => identityId === enteredAs) ?? eachOnce(memberships)[0]
  if (!organization) return <Unknown goTo={goTo} />
  return (
    <>
      <Navigation place={place} organization={organization} organizations={organizations} goTo={goTo} />
      <OwnSignIn
        organization={organization}
        identities={others.identities}
        onEntered={setEnteredAs}
        onLeft={others.onLeft}
      >
        <CurrentSection section={place.section} organization={organization} {...others} />
      </OwnSignIn>
    </>
  )
}

function CurrentSection({ section, ...props }: SectionProps & { section: Props['place']['section'] }) {
  switch (section) {
    case 'members':
      return <Members {...props} />
    case 'domains':
      return <Domains {...props} />
    case 'sso':
      return <SsoConnections {...props} />
    case 'keys':
      return <Keys {...props} />
    case 'activity':
      return <Activity {...props} />
    case 'settings':
      return <Settings {...props} />
  }
}

function Unknown({ goTo }: Pick<Props, 'goTo'>) {
  const words = useBusinessWords()
  return (
    <section class="step">
      <StepHeading>{words.unknown}</StepHeading>
      <p>{words.unknownWhy}</p>
      <p>
        <a class="button secondary" href={pathOf({ at: 'list' })} onClick={() => goTo({ at: 'list' })}>
          {words.title}
        </a>
      </p>
    </section>
  )
}
