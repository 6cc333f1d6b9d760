import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { useState } from 'preact/hooks'
import { toast } from '../../../components/frame/toast.ts'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { Tabs } from '../../../components/ui/Tabs.tsx'
import { dayOf } from '../../../lib/text/dates.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { useOperator } from '../acting/operator.ts'
import { Reading } from '../reading/Reading.tsx'
import { type Navigate, routePath } from '../routes.ts'
import { useReading } from '../reading/use-reading.ts'
import { type Act, ActDialog } from './ActDialog.tsx'
import { EditIdentity } from './EditIdentity.tsx'
import { IdentityActivity } from './IdentityActivity.tsx'
import { IdentityApps } from './IdentityApps.tsx'
import { InvitedOverview } from './invited/InvitedOverview.tsx'
import { Overview } from './Overview.tsx'
import { StatusChip } from './StatusChip.tsx'
import { usePeopleMessages } from './words.ts'

type Props = {
  identityId: string
  tab: string | undefined
  goTo: Navigate
  onChanged: (identity: AdminIdentityDetails) => void
  /** Called when the identity is deleted at once. */
  onDeleted: () => void
}

const list = { section: 'people' } as const

/** One identity: its facts, its apps, its activity, and what operators can do with it. */
export function Identity({ identityId, tab, goTo, onChanged, onDeleted }: Props) {
  const words = usePeopleMessages()
  const { ask } = useOperator()
  const [act, setAct] = useState<Act | 'edit'>()
  const [acts, setActs] = useState(0)
  const read = async () => (await ask('GET /api/admin/identities/:identityId', { params: { identityId } })).identity
  const identity = useReading(read, [])
  const readAgain = async () => {
    const changed = await read()
    identity.set(changed)
    onChanged(changed)
    setActs(acts + 1)
  }
  const done = async (said: string) => {
    await readAgain()
    toast(said)
  }
  const deleted = async (said: string) => {
    onDeleted()
    toast(said)
  }
  const close = () => setAct(undefined)
  return (
    <article class="card flush" aria-label={identity.value?.displayName ?? words.identity}>
      <p class="back-to-list">
        <RouteLink class="button ghost" href={routePath(list)} action="back-to-list" onFollow={() => goTo(list)}>
          <Icon name="arrow-left" size="sm" />
          {words.back}
        </RouteLink>
      </p>
      <Reading of={identity}>
        {(found) => (
          <>
            <Head identity={found} />
            <IdentityTabs identityId={identityId} tab={tab} goTo={goTo} />
            {tab === 'apps' ? (
              <IdentityApps identityId={identityId} />
            ) : tab === 'activity' ? (
              <IdentityActivity key={acts} identityId={identityId} />
            ) : found.status === 'invited' ? (
              <InvitedOverview identity={found} onAct={setAct} />
            ) : (
              <Overview identity={found} onAct={setAct} onDone={done} />
            )}
            {act === 'edit' ? (
              <EditIdentity identity={found} onStale={readAgain} onDone={done} onClose={close} />
            ) : (
              act && (
                <ActDialog
                  act={act}
                  identity={found}
                  onDone={act === 'delete' && found.status === 'invited' ? deleted : done}
                  onClose={close}
                />
              )
            )}
          </>
        )}
      </Reading>
    </article>
  )
}

function Head({ identity }: { identity: AdminIdentityDetails }) {
  const words = usePeopleMessages()
  const { language } = useLocale()
  const { displayName, handle, avatarUrl, email, status, createdAt } = identity
  return (
    <div class="person-head">
      <Avatar name={displayName} picture={avatarUrl} toneOf={handle} size="xl" />
      <div class="stack tight">
        <StepHeading level={2}>{displayName}</StepHeading>
        <p class="small soft">{email === null ? atHandle(handle) : `${atHandle(handle)} · ${email}`}</p>
        <p class="row">
          <StatusChip status={status} />
          <Chip>{words.since(dayOf(createdAt, language, new Date()))}</Chip>
        </p>
      </div>
    </div>
  )
}

function IdentityTabs({ identityId, tab, goTo }: Pick<Props, 'identityId' | 'tab' | 'goTo'>) {
  const words = usePeopleMessages()
  const { may } = useOperator()
  if (!may('people.activity')) return null
  const tabs = ([undefined, 'apps', 'activity'] as const).map((each) => {
    const place = { section: 'people', id: identityId, tab: each } as const
    return {
      label: words.tabs[each ?? 'overview'],
      href: routePath(place),
      current: (tab === 'apps' || tab === 'activity' ? tab : undefined) === each,
      onFollow: () => goTo(place),
      action: `tab-${each ?? 'overview'}`,
    }
  })
  return <Tabs label={words.identity} tabs={tabs} inCard />
}
