import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OwnInvitation } from '@countersign/protocol/organizations/invitations'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import { type ReturnedAct, takeReturnedAct } from '../../lib/acts/returning.ts'
import { writeLocal, readLocal } from '../../lib/remembered.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { showUser } from '../../components/frame/shown-user.ts'
import { toast } from '../../components/frame/toast.ts'
import { useRoute } from '../../components/frame/route.tsx'
import { Skeleton } from '../../components/ui/Card.tsx'
import { Console } from './Console.tsx'
import { applyPermissions, replaceMembership, uniqueBy } from './session/membership.ts'
import { Loaded } from './Loaded.tsx'
import { routePath, parseRoute, type Destination, type Navigate, type BusinessRoute } from './routes.ts'
import { callBusiness, isSignedOut, signIn } from './session/session.ts'
import { dropKeptInput, takeKeptInput } from './session/kept-input.ts'
import { ReturnedActContext, ReturnedActNote } from './session/ReturnedActNote.tsx'
import { useConsoleMessages } from './console-words.ts'

/** The local storage key of the organization that was opened last. */
const lastUsed = 'organization'

type OrganizationRoute = Extract<BusinessRoute, { at: 'organization' }>

/** The identities of the user, their organizations, and the invitations to others. */
type OrganizationData = { identities: Identity[]; organizations: OwnOrganization[]; invitations: OwnInvitation[] }

/** Each view is loaded when it is opened. */
const loadList = async () => (await import('./OrganizationList.tsx')).OrganizationList
const loadNew = async () => (await import('./NewOrganization.tsx')).NewOrganization
const loadOrganization = async () => (await import('./OrganizationPage.tsx')).OrganizationPage
const loadInvitation = async () => (await import('./invitation/InvitationPage.tsx')).InvitationPage

export function OrganizationsApp() {
  const [returned, setReturned] = useState(comeBack)
  const [place, goTo] = useRoute({ parseRoute, routePath }, () => {
    dropKeptInput()
    setReturned(undefined)
  })
  const { joined } = useConsoleMessages()
  if (place.at !== 'invitation') return <SignedIn place={place} goTo={goTo} returned={returned} onNoted={setReturned} />
  const onJoined = ({ id, name }: OwnOrganization) => {
    toast(joined(name))
    goTo({ at: 'organization', organizationId: id, section: 'overview' }, { replacing: true })
  }
  return <Loaded key={place.token} load={loadInvitation} given={{ token: place.token, onJoined }} />
}

/** Takes what became of the act that this tab left to sign, and the input of its form. */
function comeBack(): ReturnedAct | undefined {
  const returned = takeReturnedAct()
  takeKeptInput(returned?.outcome)
  return returned
}

type PlaceProps = { place: BusinessRoute; goTo: Navigate; returned: ReturnedAct | undefined }

function SignedIn({
  place,
  goTo,
  returned,
  onNoted,
}: PlaceProps & { onNoted: (act: ReturnedAct | undefined) => void }) {
  const words = useConsoleMessages()
  const doing = useActions()
  const { data, setData, change } = useOrganizationData()
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
        onNoted(returned)
      }
    },
  }
  useEffect(() => void doing.perform(read), [])
  useEffect(() => {
    if (place.at === 'organization') writeLocal(lastUsed, place.organizationId)
  }, [place])
  const organizations = data?.organizations ?? []
  return (
    <Console
      place={place}
      organization={currentOf(place, organizations)}
      organizations={organizations}
      identities={data?.identities ?? []}
      goTo={goTo}
    >
      {data ? (
        <ReturnedActContext.Provider value={returned}>
          {returned && <ReturnedActNote of={returned} />}
          <CurrentPlace place={place} goTo={goTo} data={data} onChange={change} returned={returned} />
        </ReturnedActContext.Provider>
      ) : doing.problem === undefined ? (
        <Skeleton rows={4} />
      ) : (
        <Actions of={[read]} doing={doing} />
      )}
    </Console>
  )
}

/** Returns what has changed of the present data. */
type DataChange = (present: OrganizationData) => Partial<OrganizationData>

/** The data, and what changes it: something else may have changed since the request began whose answer changes this. */
function useOrganizationData() {
  const [data, show] = useState<OrganizationData>()
  const present = useRef(data)
  const setData = (next: OrganizationData) => {
    present.current = next
    show(next)
  }
  const change = (changed: DataChange) => {
    if (present.current) setData({ ...present.current, ...changed(present.current) })
    return present.current
  }
  return { data, setData, change }
}

type Props = PlaceProps & {
  data: OrganizationData
  /** Returns the changed data. */
  onChange: (change: DataChange) => OrganizationData | undefined
}

function CurrentPlace({ place, goTo, data, onChange, returned }: Props) {
  const words = useConsoleMessages()
  const { identities, organizations, invitations } = data
  switch (place.at) {
    case 'start':
    case 'invitation':
    case 'list':
      return (
        <Loaded
          key="list"
          load={loadList}
          given={{
            organizations,
            invitations,
            goTo,
            onJoined: (joined: OwnOrganization) => {
              toast(words.joined(joined.name))
              onChange((present) => ({
                organizations: [...present.organizations, joined],
                invitations: present.invitations.filter(({ organizationId }) => organizationId !== joined.id),
              }))
              goTo({ at: 'organization', organizationId: joined.id, section: 'overview' })
            },
            onDeclined: ({ invitationId }: OwnInvitation) =>
              onChange((present) => ({
                invitations: present.invitations.filter((each) => each.invitationId !== invitationId),
              })),
          }}
        />
      )
    case 'new':
      return (
        <Loaded
          key="new"
          load={loadNew}
          given={{
            identities,
            goTo,
            onCreated: (created: OwnOrganization) => {
              onChange((present) => ({ organizations: [...present.organizations, created] }))
              goTo({ at: 'organization', organizationId: created.id, section: 'overview' }, { replacing: true })
            },
          }}
        />
      )
    case 'organization':
      return (
        <Loaded
          key={place.organizationId}
          load={loadOrganization}
          given={{
            place,
            goTo,
            identities,
            organizations,
            returned,
            ...changesOf({ place, goTo, onChange }),
          }}
        />
      )
  }
}

type ChangesProps = Pick<Props, 'goTo' | 'onChange'> & { place: OrganizationRoute }

/** Returns what the pages of an organization call after a change of it, or of the user's memberships in it. */
function changesOf({ place, goTo, onChange }: ChangesProps) {
  return {
    onChanged: (changed: OwnOrganization) =>
      onChange(({ organizations }) => ({ organizations: replaceMembership(organizations, changed) })),
    onMemberChanged: (member: OrganizationMember) =>
      onChange(({ organizations }) => ({ organizations: applyPermissions(organizations, member) })),
    onLeft: (left?: string) => {
      const isLeft = ({ id, memberId }: OwnOrganization) =>
        id === place.organizationId && memberId === (left ?? memberId)
      const changed = onChange(({ organizations }) => ({
        organizations: organizations.filter((each) => !isLeft(each)),
      }))
      // The user may have gone elsewhere meanwhile.
      const shown = parseRoute(location.pathname)
      const isShown = shown.at === 'organization' && shown.organizationId === place.organizationId
      if (isShown && changed && hasLeft(place, changed)) goTo({ at: 'list' }, { replacing: true })
    },
  }
}

/** Returns the organization of a view, as the identity of the user with the highest role. */
function currentOf(place: BusinessRoute, organizations: OwnOrganization[]): OwnOrganization | undefined {
  if (place.at !== 'organization') return undefined
  return uniqueBy(organizations.filter(({ id }) => id === place.organizationId))[0]
}

/** Returns whether the user has left or deleted the organization of this view. */
function hasLeft(place: BusinessRoute, { organizations }: OrganizationData): boolean {
  return place.at === 'organization' && !organizations.some(({ id }) => id === place.organizationId)
}

/** Returns the organization that was opened last, or the only one, or else the list. */
function startOf({ organizations }: OrganizationData): Destination {
  const last = organizations.find(({ id }) => id === readLocal(lastUsed)) ?? organizations[0]
  return last ? { at: 'organization', organizationId: last.id, section: 'overview' } : { at: 'list' }
}

/** Returns undefined if no user is signed in. */
async function readData(): Promise<OrganizationData | undefined> {
  try {
    const [session, { organizations }] = await Promise.all([
      call('GET /api/auth/session', {}),
      callBusiness('GET /api/organizations', {}),
    ])
    showUser(session.user)
    // A session that SSO opened is of one organization, and joins no other.
    const { invitations } =
      session.authMethod === 'passkey' ? await call('GET /api/account/invitations', {}) : { invitations: [] }
    return { identities: session.identities, organizations, invitations }
  } catch (error) {
    if (isSignedOut(error)) return undefined
    throw error
  }
}
