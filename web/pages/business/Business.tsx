import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../lib/call.ts'
import { remember, remembered } from '../../lib/remembering.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useDoing } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { useRoute } from '../../components/frame/route.ts'
import { Waiting } from '../../components/display/Waiting.tsx'
import { readSite } from '../../lib/view.ts'
import { Invitation } from './members/Invitation.tsx'
import { withChange } from './session/memberships.ts'
import { NewOrganization } from './NewOrganization.tsx'
import { OrganizationList } from './OrganizationList.tsx'
import { OrganizationPage } from './OrganizationPage.tsx'
import { pathOf, placeOf, type Destination, type GoTo, type Place } from './places.ts'
import { callBusiness, isSignedOut, signIn } from './session/session.ts'
import { Signature } from './session/Signature.tsx'
import { useBusinessWords } from './words.ts'

/** Where the browser keeps which organization was looked at last. */
const lastUsed = 'organization'

/** Whose organizations they are, and which. */
type Holdings = { identities: Identity[]; organizations: OwnOrganization[] }

export function Business() {
  const words = useBusinessWords()
  const doing = useDoing()
  const [place, goTo] = useRoute({ placeOf, pathOf })
  const [holdings, setHoldings] = useState<Holdings>()

  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const found = await readHoldings()
      if (!found) return signIn()
      setHoldings(found)
      if (place.at === 'start') goTo(startOf(found), { replacing: true })
    },
  }
  useEffect(() => void doing.perform(read), [])
  useEffect(() => {
    if (place.at === 'organization') remember(lastUsed, place.organizationId)
  }, [place])

  return (
    <Frame title={titleOf(place, holdings) ?? words.title} wide aside={<Account label={words.account} />}>
      {holdings ? (
        <CurrentPlace place={place} goTo={goTo} holdings={holdings} onChange={setHoldings} />
      ) : (
        <section class="step">
          {doing.problem === undefined ? <Waiting /> : <Actions of={[read]} doing={doing} />}
        </section>
      )}
      <Signature />
    </Frame>
  )
}

type Props = { place: Place; goTo: GoTo; holdings: Holdings; onChange: (holdings: Holdings) => void }

function CurrentPlace({ place, goTo, holdings, onChange }: Props) {
  const { identities, organizations } = holdings
  const keep = (kept: OwnOrganization[]) => onChange({ ...holdings, organizations: kept })
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
            keep([...organizations, created])
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
          onChanged={(changed) => keep(withChange(organizations, changed))}
          onLeft={(left) => {
            const isLeft = ({ id, memberId }: OwnOrganization) =>
              id === place.organizationId && memberId === (left ?? memberId)
            const others = organizations.filter((each) => !isLeft(each))
            keep(others)
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
            keep([...organizations, joined])
            goTo({ at: 'organization', organizationId: joined.id, section: 'members' }, { replacing: true })
          }}
        />
      )
  }
}

function Account({ label }: { label: string }) {
  return (
    <a class="button quiet" href={`${readSite().authUrl}/account`}>
      {label}
    </a>
  )
}

function titleOf(place: Place, holdings: Holdings | undefined): string | undefined {
  if (place.at !== 'organization') return undefined
  return holdings?.organizations.find(({ id }) => id === place.organizationId)?.name
}

/** The organization that they looked at last, or the only one, else all of them. */
function startOf({ organizations }: Holdings): Destination {
  const last = organizations.find(({ id }) => id === remembered(lastUsed)) ?? organizations[0]
  return last ? { at: 'organization', organizationId: last.id, section: 'members' } : { at: 'list' }
}

/** Undefined where nobody is signed in. */
async function readHoldings(): Promise<Holdings | undefined> {
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
