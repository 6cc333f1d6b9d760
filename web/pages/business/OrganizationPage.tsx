import type { ComponentType } from 'preact'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useState } from 'preact/hooks'
import { Spinner } from '../../components/display/Facts.tsx'
import { Actions } from '../../components/form/Actions.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import type { ReturnedAct } from '../../lib/acts/returning.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { Activity } from './settings/Activity.tsx'
import { Domains } from './domains/Domains.tsx'
import { Keys } from './keys/Keys.tsx'
import { Members } from './members/Members.tsx'
import { uniqueBy } from './session/membership.ts'
import { Navigation } from './Navigation.tsx'
import { OrganizationSsoPrompt } from './sso/OwnSignIn.tsx'
import { routePath, type Navigate, type BusinessRoute } from './routes.ts'
import { Settings } from './settings/Settings.tsx'
import { useBusinessMessages } from './words.ts'

type Props = {
  place: Extract<BusinessRoute, { at: 'organization' }>
  goTo: Navigate
  identities: Identity[]
  organizations: OwnOrganization[]
  /** The act that the user has just signed, or not signed. */
  returned: ReturnedAct | undefined
  onChanged: (organization: OwnOrganization) => void
  /** Called if the organization was deleted or the user left it, or if the given member of theirs was removed. */
  onLeft: (memberId?: string) => void
}

/** The properties of each section. */
export type SectionProps = Pick<Props, 'onChanged' | 'onLeft' | 'identities' | 'returned'> & {
  organization: OwnOrganization
}

export function OrganizationPage({ place, goTo, organizations, ...others }: Props) {
  const [enteredAs, setEnteredAs] = useState<string>()
  const memberships = organizations.filter(({ id }) => id === place.organizationId)
  const organization = memberships.find(({ identityId }) => identityId === enteredAs) ?? uniqueBy(memberships)[0]
  if (!organization) {
    const unknown = <Unknown goTo={goTo} />
    if (place.section !== 'council') return unknown
    return <Loaded load={loadFormer} given={{ organizationId: place.organizationId, otherwise: unknown }} />
  }
  return (
    <>
      <Navigation place={place} organization={organization} organizations={organizations} goTo={goTo} />
      <OrganizationSsoPrompt
        organization={organization}
        identities={others.identities}
        onEntered={setEnteredAs}
        onLeft={others.onLeft}
      >
        <CurrentSection section={place.section} organization={organization} {...others} />
      </OrganizationSsoPrompt>
    </>
  )
}

function CurrentSection({ section, ...props }: SectionProps & { section: Props['place']['section'] }) {
  switch (section) {
    case 'members':
      return <Members {...props} />
    case 'domains':
      return <Domains {...props} />
    case 'council':
      return <Loaded key={section} load={loadCouncil} given={props} />
    case 'sso':
      return <Loaded key={section} load={loadSso} given={props} />
    case 'keys':
      return <Keys {...props} />
    case 'activity':
      return <Activity {...props} />
    case 'settings':
      return <Settings {...props} />
  }
}

/** Parts that few members need. They are loaded when they are opened. */
const loadSso = async () => (await import('./sso/SsoConnections.tsx')).SsoConnections
const loadCouncil = async () => (await import('./council/CouncilSection.tsx')).CouncilSection
const loadFormer = async () => (await import('./council/FormerSignatory.tsx')).FormerSignatory

type LoadedProps<Given> = { load: () => Promise<ComponentType<Given>>; given: Given }

function Loaded<Given extends object>({ load, given }: LoadedProps<Given>) {
  const { retry } = useBusinessMessages()
  const doing = useActions()
  const [loaded, setLoaded] = useState<{ View: ComponentType<Given> }>()
  const read: Action = { name: 'retry', label: retry, do: async () => setLoaded({ View: await load() }) }
  useEffect(() => void doing.perform(read), [])
  if (loaded) return <loaded.View {...given} />
  return doing.problem === undefined ? <Spinner /> : <Actions of={[read]} doing={doing} />
}

function Unknown({ goTo }: Pick<Props, 'goTo'>) {
  const words = useBusinessMessages()
  return (
    <section class="step">
      <StepHeading>{words.unknown}</StepHeading>
      <p>{words.unknownWhy}</p>
      <p>
        <a class="button secondary" href={routePath({ at: 'list' })} onClick={() => goTo({ at: 'list' })}>
          {words.title}
        </a>
      </p>
    </section>
  )
}
