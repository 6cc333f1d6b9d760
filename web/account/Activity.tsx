import type { ActivityEntry } from '@countersign/protocol/account'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../call.ts'
import { momentOf } from '../dates.ts'
import type { Session } from '../session.ts'
import { Actions } from '../ui/Actions.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { useSpeech } from '../ui/Root.tsx'
import { Waiting } from '../ui/Waiting.tsx'
import { deviceOf, type Device } from './device.ts'

type Trail = { entries: ActivityEntry[]; nextCursor: string | null }

/** What was done in the account, page after page. */
export function Activity({ session }: { session: Session }) {
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
            <Description of={entry} session={session} />
          </li>
        ))}
      </ul>
      <Actions of={mayHaveMore ? [more] : []} doing={doing} />
    </section>
  )
}

function Description({ of: entry, session }: { of: ActivityEntry; session: Session }) {
  const { words, language } = useSpeech()
  const { action, appName, identityId, details } = entry
  const acts: Partial<Record<string, string>> = words.activity.acts
  const identity = session.identities.find((each) => each.identityId === identityId)
  const { device } = details
  const nameOf = ({ browser, system }: Device) =>
    browser !== undefined && system !== undefined ? words.sessions.on(browser, system) : (browser ?? system)
  const facts = [
    momentOf(entry.at, language),
    appName,
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
