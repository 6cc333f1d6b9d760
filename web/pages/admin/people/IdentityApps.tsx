import { useLocale } from '../../../components/frame/Root.tsx'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Empty } from '../../../components/ui/Card.tsx'
import { formatDayAlone } from '../../../lib/text/dates.ts'
import { useOperator } from '../acting/operator.ts'
import { Reading } from '../reading/Reading.tsx'
import { useReading } from '../reading/use-reading.ts'
import { usePeopleMessages } from './words.ts'

/** The apps that an identity has connected. */
export function IdentityApps({ identityId }: { identityId: string }) {
  const words = usePeopleMessages()
  const { language } = useLocale()
  const { ask } = useOperator()
  const apps = useReading(
    async () => (await ask('GET /api/admin/identities/:identityId/apps', { params: { identityId } })).apps,
    [],
  )
  return (
    <Reading of={apps}>
      {(found) =>
        found.length === 0 ? (
          <Empty icon="app-window" title={words.noApps} />
        ) : (
          <ul class="list">
            {found.map(({ clientId, appName, scope, lastAuthorizedAt }) => (
              <li key={clientId}>
                <Avatar kind="app" size="sm" name={appName} toneOf={clientId} />
                <div class="body">
                  <strong>{appName}</strong>
                  <small dir="ltr">{scope}</small>
                  <small>
                    <time dateTime={lastAuthorizedAt}>{formatDayAlone(lastAuthorizedAt, language, new Date())}</time>
                  </small>
                </div>
              </li>
            ))}
          </ul>
        )
      }
    </Reading>
  )
}
