import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { ErrorMessage } from '../../components/form/Dialog.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { useSignOut } from '../../components/form/use-sign-out.ts'
import { PageHead } from '../../components/frame/Frame.tsx'
import { OnDemand } from '../../components/frame/OnDemand.tsx'
import { LocaleProvider } from '../../components/frame/Root.tsx'
import { useRoute } from '../../components/frame/route.tsx'
import { showUser } from '../../components/frame/shown-user.ts'
import { Shell } from '../../components/frame/Shell.tsx'
import { Card, Empty, Skeleton } from '../../components/ui/Card.tsx'
import { Filter } from '../../components/ui/Table.tsx'
import { call } from '../../lib/api/call.ts'
import { withReturnUrl } from '../../lib/navigation.ts'
import { rememberOperator } from '../../lib/remembered.ts'
import { fetchOwnSession, isSignInRequired, type Session } from '../../lib/session/session.ts'
import { atHandle } from '../../lib/text/handle.ts'
import { ActingOperator, type OwnOperator } from './acting/operator.ts'
import {
  type AdminRoute,
  type Navigate,
  parseRoute,
  routePath,
  type Section,
  type SectionProps,
  sectionIcons,
  sections,
} from './routes.ts'
import { useAdminMessages } from './words.ts'

const loaders: Record<Section, () => Promise<ComponentType<SectionProps>>> = {
  overview: async () => (await import('./overview/Overview.tsx')).Overview,
  people: async () => (await import('./people/People.tsx')).People,
  invitations: async () => (await import('./invitations/Invitations.tsx')).Invitations,
  groups: async () => (await import('./groups/Groups.tsx')).Groups,
  apps: async () => (await import('./apps/Apps.tsx')).Apps,
  organizations: async () => (await import('./organizations/Organizations.tsx')).Organizations,
  audit: async () => (await import('./audit/Audit.tsx')).Audit,
  operators: async () => (await import('./operators/Operators.tsx')).Operators,
  keys: async () => (await import('./keys/Keys.tsx')).Keys,
  backups: async () => (await import('./backups/Backups.tsx')).Backups,
  settings: async () => (await import('./settings/Settings.tsx')).Settings,
}

/** The pages on which operators administer the service. */
export function Admin() {
  const words = useAdminMessages()
  const [place, goTo] = useRoute({ parseRoute, routePath })
  const { operators, session, doing, read } = useOwnOperators()
  const signingOut = useSignOut()
  const [identityId, choose] = useState<string>()
  const operator = operators?.find((each) => each.identityId === identityId) ?? operators?.[0]
  return (
    <Shell
      area="operator"
      title={operator ? words.sections[place.section] : words.title}
      sections={operator ? linksOf(place, goTo, words.sections) : []}
      user={session?.identities[0]}
      onSignOut={signingOut.leave}
      context={<ChooseOperator of={operators ?? []} chosen={operator} onChoose={choose} />}
      width="full"
    >
      <ErrorMessage of={signingOut.problem} />
      {operators ? (
        operator ? (
          <ActingOperator.Provider value={operator}>
            <LocaleProvider refused={words.refused}>
              <OnDemand
                key={`${operator.identityId} ${place.section}`}
                load={loaders[place.section]}
                given={{ place, goTo }}
              />
            </LocaleProvider>
          </ActingOperator.Provider>
        ) : (
          <NoOperator />
        )
      ) : doing.problem === undefined ? (
        <Skeleton rows={4} />
      ) : (
        <>
          <PageHead title={words.title} />
          <Actions of={[read]} doing={doing} />
        </>
      )}
    </Shell>
  )
}

/** Reads the identities as which the user administers the service. Users who are not signed in go to sign in. */
function useOwnOperators() {
  const words = useAdminMessages()
  const doing = useActions()
  const [found, setFound] = useState<{ operators: OwnOperator[]; session: Session }>()
  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const own = await readOwnOperators()
      if (!own) return location.replace(withReturnUrl('/login', location.pathname))
      const [first] = own.session.identities
      if (first) rememberOperator(first.handle, own.operators.length > 0)
      setFound(own)
    },
  }
  useEffect(() => void doing.perform(read), [])
  return { ...found, doing, read }
}

/** Returns undefined if no user is signed in by a passkey. */
async function readOwnOperators() {
  const session = await fetchOwnSession()
  if (!session) return undefined
  showUser(session.user)
  try {
    return { session, ...(await call('GET /api/account/operators', {})) }
  } catch (error) {
    if (isSignInRequired(error)) return undefined
    throw error
  }
}

function linksOf(place: AdminRoute, goTo: Navigate, labels: Record<Section, string>) {
  return sections.map((section) => ({
    href: routePath({ section }),
    icon: sectionIcons[section],
    label: labels[section],
    current: place.section === section,
    onFollow: () => goTo({ section }),
  }))
}

type ChooseProps = {
  of: OwnOperator[]
  chosen: OwnOperator | undefined
  onChoose: (identityId: string) => void
}

/** Says as which identity the user acts. Users with several roles choose one. */
function ChooseOperator({ of, chosen, onChoose }: ChooseProps) {
  const words = useAdminMessages()
  if (!chosen) return <span class="context-room" />
  if (of.length === 1)
    return <p class="operator-role small soft">{words.actingAs(atHandle(chosen.handle), words.roles[chosen.role])}</p>
  const choices = of.map(({ identityId, handle, role }) => ({
    value: String(identityId),
    label: `${atHandle(handle)} · ${words.roles[role]}`,
  }))
  return <Filter label={words.actAs} of={choices} chosen={String(chosen.identityId)} onChoose={onChoose} />
}

/** Stands on the operator pages for users who are no operators. */
function NoOperator() {
  const words = useAdminMessages()
  return (
    <>
      <PageHead title={words.title} />
      <Card flush>
        <Empty icon="lock" title={words.none.title} level={2}>
          <p>{words.none.about}</p>
          <a class="button" href="/account">
            {words.none.back}
          </a>
        </Empty>
      </Card>
    </>
  )
}
