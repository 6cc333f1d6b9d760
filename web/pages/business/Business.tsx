import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import { type ReturnedAct, takeReturnedAct } from '../../lib/acts/returning.ts'
import { writeLocal, readLocal } from '../../lib/remembered.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useRoute } from '../../components/frame/route.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { readSiteSettings } from '../../lib/page-data.ts'
import { Invitation } from './members/Invitation.tsx'
import { replaceMembership } from './session/membership.ts'
import { NewOrganization } from './NewOrganization.tsx'
import { OrganizationList } from './OrganizationList.tsx'
import { OrganizationPage } from './OrganizationPage.tsx'
import { routePath, parseRoute, type Destination, type Navigate, type BusinessRoute } from './routes.ts'
import { callBusiness, isSignedOut, signIn } from './session/session.ts'
import { ReturnedActNote } from './session/ReturnedActNote.tsx'
import { useBusinessMessages } from './words.ts'

/** The local storage key of the organization that was opened last. */
const lastUsed = 'organization'

/** The identities of the user, and their organizations. */
type OrganizationData = { identities: Identity[]; organizations: OwnOrganization[] }

export function OrganizationsApp() {
  const words = useBusinessMessages()
  const doing = useActions()
  const [returned, setReturned] = useState(takeReturnedAct)
  const [place, goTo] = useRoute({ parseRoute, routePath }, () => setReturned(undefined))
  const [data, setData] = useState<OrganizationData>()

  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const found = await readData()
      if (!found) return signIn()
      setData(found)
      if (place.at === 'start') goTo(startOf(found), { replacing: true })
      if (returned && hasLeft(place, found)) {
        goTo({ at: 'list' }, { replacing: true })
        setReturned(returned)
      }
    },
  }
  useEffect(() => void doing.perform(read), [])
  useEffect(() => {
    if (place.at === 'organization') writeLocal(lastUsed, place.organizationId)
  }, [place])

  return (
    <PageLayout title={titleOf(place, data) ?? words.title} wide aside={<Account label={words.account} />}>
      {data ? (
        <>
          {returned && <ReturnedActNote of={returned} />}
          <CurrentPlace place={place} goTo={goTo} data={data} onChange={setData} returned={returned} />
        </>
      ) : (
        <section class="step">
          {doing.problem === undefined ? <Spinner /> : <Actions of={[read]} doing={doing} />}
        </section>
      )}
    </PageLayout>
  )
}

type Props = {
  place: BusinessRoute
  goTo: Navigate
  data: OrganizationData
  onChange: (data: OrganizationData) => void
  returned: ReturnedAct | undefined
}

function CurrentPlace({ place, goTo, data, onChange, returned }: Props) {
  const { identities, organizations } = data
  const updateOrganizations = (updated: OwnOrganization[]) => onChange({ ...data, organizations: updated })
  switch (place.at) {
    case 'start':
    case 'list':
      return <OrganizationList organizations={organizations} goTo={goTo} />
    case 'new':
      return (
        <NewOrganization
          identities={identities}
          goTo={goTo}
          onCreated={(created) => {
            updateOrganizations([...organizations, created])
            goTo({ at: 'organization', organizationId: created.id, section: 'members' }, { replacing: true })
          }}
        />
      )
    case 'organization':
      return (
        <OrganizationPage
          key={place.organizationId}
          place={place}
          goTo={goTo}
          identities={identities}
          organizations={organizations}
          returned={returned}
          onChanged={(changed) => updateOrganizations(replaceMembership(organizations, changed))}
          onLeft={(left) => {
            const isLeft = ({ id, memberId }: OwnOrganization) =>
              id === place.organizationId && memberId === (left ?? memberId)
            const others = organizations.filter((each) => !isLeft(each))
            updateOrganizations(others)
            if (!others.some(({ id }) => id === place.organizationId)) goTo({ at: 'list' }, { replacing: true })
          }}
        />
      )
    case 'invitation':
      return (
        <Invitation
          token={place.token}
          identities={identities}
          onJoined={(joined) => {
            updateOrganizations([...organizations, joined])
            goTo({ at: 'organization', organizationId: joined.id, section: 'members' }, { replacing: true })
          }}
        />
      )
  }
}

function Account({ label }: { label: string }) {
  return (
    <a class="button quiet" href={`${readSiteSettings().authUrl}/account`}>
      {label}
    </a>
  )
}

function titleOf(place: BusinessRoute, data: OrganizationData | undefined): string | undefined {
  if (place.at !== 'organization') return undefined
  return data?.organizations.find(({ id }) => id === place.organizationId)?.name
}

/** Returns whether the user has left or deleted the organization of this view. */
function hasLeft(place: BusinessRoute, { organizations }: OrganizationData): boolean {
  return place.at === 'organization' && !organizations.some(({ id }) => id === place.organizationId)
}

/** Returns the organization that was opened last, or the only one, or else the list. */
function startOf({ organizations }: OrganizationData): Destination {
  const last = organizations.find(({ id }) => id === readLocal(lastUsed)) ?? organizations[0]
  return last ? { at: 'organization', organizationId: last.id, section: 'members' } : { at: 'list' }
}

/** Returns undefined if no user is signed in. */
async function readData(): Promise<OrganizationData | undefined> {
  try {
    const [{ identities }, { organizations }] = await Promise.all([
      call('GET /api/auth/session', {}),
      callBusiness('GET /api/organizations', {}),
    ])
    return { identities, organizations }
  } catch (error) {
    if (isSignedOut(error)) return undefined
    throw error
  }
}
