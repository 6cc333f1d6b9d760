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
import { keepFocus } from '../../../lib/focus.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { useOperator } from '../acting/operator.ts'
import { Reading } from '../reading/Reading.tsx'
import { type Navigate, routePath } from '../routes.ts'
import { useReading } from '../reading/use-reading.ts'
import { type Act, ActDialog, type Said } from './ActDialog.tsx'
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
  /** Called with the identity whenever it was read. */
  onChanged: (identity: AdminIdentityDetails) => void
  /** Called when the identity is deleted at once. */
  onDeleted: () => void
}

const list = { section: 'people' } as const

/** Reads an identity, and again after each act. `acts` is the number of these. */
function useIdentity({ identityId, onChanged }: Pick<Props, 'identityId' | 'onChanged'>) {
  const { ask } = useOperator()
  const [acts, setActs] = useState(0)
  const read = async () => {
    const { identity: found } = await ask('GET /api/admin/identities/:identityId', { params: { identityId } })
    onChanged(found)
    return found
  }
  const identity = useReading(read, [])
  const readAgain = async () => {
    const changed = await read()
    identity.set(changed)
    setActs((before) => before + 1)
    return changed
  }
  const done = async (said: Said) => {
    // It is done, whether or not the identity can be read again.
    if (typeof said === 'string') toast(said)
    try {
      await keepFocus(async () => {
        const changed = await readAgain()
        if (typeof said !== 'string') toast(said(changed))
      })
    } catch {
      if (typeof said !== 'string') toast(said(undefined))
      identity.again()
    }
  }
  return { identity, acts, readAgain, done }
}

/** One identity: its facts, its apps, its activity, and what operators can do with it. */
export function Identity({ identityId, tab, goTo, onChanged, onDeleted }: Props) {
  const words = usePeopleMessages()
  const [act, setAct] = useState<Act | 'edit'>()
  const { identity, acts, readAgain, done } = useIdentity({ identityId, onChanged })
  const deleted = async (said: Said) => {
    onDeleted()
    toast(typeof said === 'string' ? said : said(undefined))
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
                  onStale={readAgain}
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
