import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../../lib/call.ts'
import { momentOf } from '../../../lib/text/dates.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useSpeech } from '../../../components/frame/Root.tsx'
import { Waiting } from '../../../components/display/Waiting.tsx'
import type { Holdings } from '../Account.tsx'
import { delegationIn } from '../apps/delegation-list.ts'
import { pairOf } from '../apps/Delegations.tsx'
import { deviceOf, type Device } from '../devices/device.ts'

type Trail = { entries: ActivityEntry[]; nextCursor: string | null }

/** What was done in the account, page after page. */
export function Activity({ holdings }: { holdings: Holdings }) {
  const words = useSpeech().words.activity
  const doing = useDoing()
  const [trail, setTrail] = useState<Trail>()
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
      {!trail && doing.problem === undefined && <Waiting />}
      <ul class="entries">
        {trail?.entries.map((entry) => (
          <li key={entry.entryId} class="entry">
            <Description of={entry} holdings={holdings} />
          </li>
        ))}
      </ul>
      <Actions of={mayHaveMore ? [more] : []} doing={doing} />
    </section>
  )
}

type DescriptionProps = { of: ActivityEntry; holdings: Holdings }

function Description({ of: entry, holdings: { session, delegations } }: DescriptionProps) {
  const { words, language } = useSpeech()
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
