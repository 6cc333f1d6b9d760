import { useEffect, useRef, useState } from 'preact/hooks'
import { withReturnUrl } from '../../lib/navigation.ts'
import type { Session } from '../../lib/session/session.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { ErrorMessage } from '../../components/form/Dialog.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { useSignOut } from '../../components/form/use-sign-out.ts'
import { useMessages } from './words.ts'
import { useRoute } from '../../components/frame/route.tsx'
import { Shell, type ShellSection } from '../../components/frame/Shell.tsx'
import { Skeleton } from '../../components/ui/Card.tsx'
import { type AccountData, type DataChange, readAccountData, type SectionProps } from './account-data.ts'
import { PendingDeviceNotice } from './devices/WaitingDevices.tsx'
import { Home } from './home/Home.tsx'
import { RecoveryBanners } from './home/RecoveryBanner.tsx'
import { lazy } from './lazy.tsx'
import { MissingRecoveryCode } from './passkeys/MissingRecoveryCode.tsx'
import { usePendingItems } from './pending-items.ts'
import { routePath, type Section, sectionIcons, sectionOf, sections } from './sections.ts'
import { latestOf } from './signing/pending.ts'
import { useAccountWords } from './words.ts'

export type { AccountData } from './account-data.ts'

const RecoveredAccess = lazy(async () => (await import('./home/RecoveredAccess.tsx')).RecoveredAccess)
const Activity = lazy(async () => (await import('./activity/Activity.tsx')).Activity)
const Apps = lazy(async () => (await import('./apps/Apps.tsx')).Apps)
const DataAndDeletion = lazy(async () => (await import('./data/Data.tsx')).DataAndDeletion)
const Identities = lazy(async () => (await import('./identities/Identities.tsx')).Identities)
const Security = lazy(async () => (await import('./security/Security.tsx')).Security)
const Signing = lazy(async () => (await import('./signing/Signing.tsx')).Signing)

export function Account() {
  const words = useMessages().account
  const labels = useSectionLabels()
  const doing = useActions()
  const [section, goTo] = useRoute({ parseRoute: sectionOf, routePath })
  const [session, setSession] = useState<Session>()
  const [data, setData] = useState<AccountData>()
  const [isLimited, setLimited] = useState(false)
  usePendingItems(data?.pending.requests.length, ({ pending, devices }) =>
    setData((current) => current && { ...current, devices, pending: latestOf(current.pending, pending) }),
  )

  const update = (change: DataChange) =>
    setData((current) => current && (typeof change === 'function' ? change(current) : change))

  const isLeaving = useRef(false)
  // Independent of the data, so that users can sign out before it has loaded.
  const signingOut = useSignOut(() => {
    isLeaving.current = true
  })
  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const found = await readAccountData(setSession)
      if (found === 'limited') return setLimited(true)
      if (found) return setData(found)
      // A user who signs out while the data loads is redirected to the start page instead.
      if (!isLeaving.current) location.replace(withReturnUrl('/login', location.pathname))
    },
  }
  useEffect(() => void doing.perform(read), [])

  return (
    <Shell
      area="account"
      title={labels[section]}
      sections={isLimited ? [] : linksOf({ section, labels, data, onGo: goTo })}
      user={(data?.session ?? session)?.identities[0]}
      onSignOut={signingOut.leave}
      waiting={data?.pending.count ?? 0}
    >
      <ErrorMessage of={signingOut.problem} />
      {isLimited && session ? (
        <RecoveredAccess session={session} />
      ) : data ? (
        <>
          <RecoveryBanners data={data} onChange={update} />
          <MissingRecoveryCode data={data} onChange={update} />
          <Content section={section} data={data} onChange={update} onGo={goTo} />
          <PendingDeviceNotice
            count={section === 'security' ? 0 : data.devices.length}
            onLook={() => goTo('security')}
          />
        </>
      ) : doing.problem === undefined ? (
        <div class="card flush">
          <Skeleton rows={4} />
        </div>
      ) : (
        <Actions of={[read]} doing={doing} />
      )}
    </Shell>
  )
}

type LinksInput = {
  section: Section
  labels: Record<Section, string>
  data: AccountData | undefined
  onGo: (section: Section) => void
}

/** Returns the links to all sections, with the number of items that wait in each. */
function linksOf({ section, labels, data, onGo }: LinksInput): ShellSection[] {
  const counts: Partial<Record<Section, number>> = {
    signing: data?.pending.count ?? 0,
    security: data?.devices.length ?? 0,
  }
  return sections.map((each) => ({
    href: routePath(each),
    icon: sectionIcons[each],
    label: labels[each],
    current: each === section,
    count: counts[each] ?? 0,
    onFollow: () => onGo(each),
  }))
}

type ContentProps = SectionProps & { section: Section; onGo: (section: Section) => void }

function Content({ section, onGo, ...props }: ContentProps) {
  const { data } = props
  switch (section) {
    case 'home':
      return <Home data={data} onGo={onGo} />
    case 'signing':
      return <Signing {...props} />
    case 'identities':
      return <Identities {...props} />
    case 'security':
      return <Security {...props} />
    case 'apps':
      return <Apps {...props} />
    case 'activity':
      return <Activity {...props} onGo={onGo} />
    case 'data':
      return <DataAndDeletion data={data} />
  }
}

function useSectionLabels(): Record<Section, string> {
  const { account } = useMessages()
  const { places } = useAccountWords()
  const { identities, signing, apps, activity } = account
  return { ...places, identities, signing, apps, activity }
}
