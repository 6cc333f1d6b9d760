import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { formatMoment } from '../../../lib/text/dates.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { useLocale } from '../words.ts'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Card, Skeleton } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { deviceName } from '../devices/device.ts'
import { useAccountWords } from '../words.ts'
import { GoTo, type HomeProps } from './GoTo.tsx'
import { latestSignIns } from './latest-sign-ins.ts'

const readEntries = '50'

/** The apps, and this service, to which the user signed in last. */
export function RecentSignIns({ data, onGo }: HomeProps) {
  const words = useAccountWords().home
  const { words: shared } = useLocale()
  const doing = useActions()
  const [entries, setEntries] = useState<ActivityEntry[]>()
  const read = {
    name: 'retry-sign-ins',
    label: shared.account.retry,
    look: 'secondary' as const,
    do: async () => {
      const page = await call('GET /api/account/activity', { querystring: { kind: 'sign_in', limit: readEntries } })
      setEntries(latestSignIns(page.entries))
    },
  }
  useEffect(() => void doing.perform(read), [])
  return (
    <Card title={words.recent} actions={<GoTo section="activity" label={words.allActivity} onGo={onGo} />}>
      {entries ? (
        <ul class="list plain compact">
          {entries.map((entry) => (
            <SignIn key={entry.entryId} of={entry} data={data} />
          ))}
        </ul>
      ) : doing.problem === undefined ? (
        <Skeleton rows={3} />
      ) : (
        <Actions of={[read]} doing={doing} />
      )}
    </Card>
  )
}

function SignIn({
  of: { action, appName, clientId, at, device },
  data,
}: {
  of: ActivityEntry
  data: HomeProps['data']
}) {
  const { words, language } = useLocale()
  const picture = data.authorizations.find((each) => each.clientId === clientId)?.appIconUrl
  const facts = [formatMoment(at, language, new Date()), device && deviceName(device, words)]
  const acts: Partial<Record<string, string>> = words.activity.acts
  return (
    <li>
      {appName === null ? (
        <span class="glyph sm">
          <Icon name="fingerprint-pattern" size="sm" />
        </span>
      ) : (
        <Avatar kind="app" size="sm" name={appName} picture={picture} toneOf={clientId ?? appName} />
      )}
      <div class="body">
        <strong>{appName ?? acts[action] ?? words.activity.other}</strong>
        <small>{facts.filter(Boolean).join(' · ')}</small>
      </div>
    </li>
  )
}
