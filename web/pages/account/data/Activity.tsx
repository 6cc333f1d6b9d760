import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { momentOf } from '../../../lib/text/dates.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Spinner } from '../../../components/display/Facts.tsx'
import type { AccountData } from '../Account.tsx'
import { delegationIn } from '../apps/delegation-list.ts'
import { pairOf } from '../apps/Delegations.tsx'
import { deviceOf, type Device } from '../devices/device.ts'

type ActivityPage = { entries: ActivityEntry[]; nextCursor: string | null }

/** Shows the audit events of the account, page by page. */
export function Activity({ data }: { data: AccountData }) {
  const words = useLocale().words.activity
  const doing = useActions()
  const [trail, setTrail] = useState<ActivityPage>()
  const more: Action = {
    name: 'more',
    label: words.more,
    look: 'secondary',
    do: async () => {
      const cursor = trail?.nextCursor
      const page = await call('GET /api/account/activity', { querystring: cursor ? { cursor } : {} })
      setTrail({ ...page, entries: [...(trail?.entries ?? []), ...page.entries] })
    },
  }
  useEffect(() => void doing.perform(more), [])
  const mayHaveMore = trail ? trail.nextCursor !== null : doing.problem !== undefined
  return (
    <section class="step">
      <h1>{words.title}</h1>
      <p class="lead">{words.lead}</p>
      {!trail && doing.problem === undefined && <Spinner />}
      <ul class="entries">
        {trail?.entries.map((entry) => (
          <li key={entry.entryId} class="entry">
            <Description of={entry} data={data} />
          </li>
        ))}
      </ul>
      <Actions of={mayHaveMore ? [more] : []} doing={doing} />
    </section>
  )
}

type DescriptionProps = { of: ActivityEntry; data: AccountData }

function Description({ of: entry, data: { session, delegations } }: DescriptionProps) {
  const { words, language } = useLocale()
  const { action, appName, identityId, details } = entry
  const delegation = delegationIn(entry, delegations)
  const acts: Partial<Record<string, string>> = words.activity.acts
  const identity = session.identities.find((each) => each.identityId === identityId)
  const { device, uses } = details
  const nameOf = ({ browser, system }: Device) =>
    browser !== undefined && system !== undefined ? words.sessions.on(browser, system) : (browser ?? system)
  const facts = [
    momentOf(entry.at, language),
    delegation ? pairOf(delegation, words.delegations) : appName,
    typeof uses === 'number' && uses > 1 && words.delegations.times(uses),
    identity && `@${identity.handle}`,
    typeof device === 'string' && nameOf(deviceOf(device)),
  ]

  return (
    <div>
      <h2>{acts[action] ?? words.activity.other}</h2>
      <p>{facts.filter(Boolean).join(' · ')}</p>
    </div>
  )
}
