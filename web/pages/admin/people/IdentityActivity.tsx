import type { AdminActivityEntry } from '@countersign/protocol/operations/people'
import { useActivityMessages } from '../../../components/display/activity-words.ts'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Empty } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { formatMoment } from '../../../lib/text/dates.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { useOperator } from '../acting/operator.ts'
import { Reading } from '../reading/Reading.tsx'
import { useReading } from '../reading/use-reading.ts'
import { usePeopleMessages } from './words.ts'

/** What happened with an identity, newest first. */
export function IdentityActivity({ identityId }: { identityId: string }) {
  const words = usePeopleMessages()
  const { ask } = useOperator()
  const doing = useActions()
  const readPage = (cursor?: string) =>
    ask('GET /api/admin/identities/:identityId/activity', {
      params: { identityId },
      querystring: { limit: '25', ...(cursor !== undefined && { cursor }) },
    })
  const activity = useReading(() => readPage(), [])
  const more = {
    name: 'more',
    label: words.more,
    look: 'secondary',
    do: async () => {
      const { value } = activity
      if (!value || value.nextCursor === null) return
      const next = await readPage(value.nextCursor)
      activity.set({ ...next, entries: [...value.entries, ...next.entries] })
    },
  } as const
  return (
    <Reading of={activity}>
      {({ entries, nextCursor }) =>
        entries.length === 0 ? (
          <Empty icon="activity" title={words.noActivity} />
        ) : (
          <>
            <ol class="list">
              {entries.map((entry) => (
                <Entry key={entry.entryId} entry={entry} />
              ))}
            </ol>
            {nextCursor !== null && (
              <div class="card-foot">
                <ErrorMessage of={doing.problem} />
                <ActionButton action={more} doing={doing} />
              </div>
            )}
          </>
        )
      }
    </Reading>
  )
}

function Entry({ entry: { action, appName, at } }: { entry: AdminActivityEntry }) {
  const { language } = useLocale()
  const own = usePeopleMessages().acts
  const acts: Partial<Record<string, string>> = { ...useActivityMessages().activity.acts, ...own }
  return (
    <li>
      <span class="glyph sm">
        <Icon name="activity" size="sm" />
      </span>
      <div class="body">
        <span>
          {acts[action] ?? <code>{action}</code>} {appName !== null && isolate(appName)}
        </span>
        <small>
          <time dateTime={at}>{formatMoment(at, language, new Date())}</time>
        </small>
      </div>
    </li>
  )
}
