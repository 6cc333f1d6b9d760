import { PageHead } from '../../../components/frame/Frame.tsx'
import { useLocale } from '../words.ts'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { formatDate, formatDuration, formatNumber } from '../../../lib/text/dates.ts'
import { routePath, type Section } from '../sections.ts'
import type { Pending } from '../signing/pending.ts'
import { RequestTitle } from '../signing/RequestTitle.tsx'
import { useAccountWords } from '../words.ts'
import { dayPart } from './day-part.ts'
import { GoTo, type HomeProps } from './GoTo.tsx'
import { InvitationCard } from './Invitations.tsx'
import { Organizations } from './Organizations.tsx'
import { RecentSignIns } from './RecentSignIns.tsx'
import { SecurityCheck } from './SecurityCheck.tsx'
import { atHandle } from '../../../lib/text/handle.ts'

/** The first page of a signed-in user: what waits for them, what to do next, and where they have been. */
export function Home({ data, onGo }: HomeProps) {
  const { language } = useLocale()
  const now = new Date()
  const name = data.session.identities[0]?.displayName ?? ''
  return (
    <>
      <PageHead title={<Greeting name={name} now={now} />} lead={formatDate(now.toISOString(), language, now)} />
      <Waiting pending={data.pending} onGo={onGo} />
      <InvitationCard invitations={data.invitations} />
      <div class="grid-2">
        <SecurityCheck data={data} onGo={onGo} />
        <RecentSignIns data={data} onGo={onGo} />
      </div>
      <ConnectedApps data={data} onGo={onGo} />
      <Organizations />
    </>
  )
}

/**
 * On a phone the name has a line of its own: whether both fit in one would depend on the typeface, and the page would
 * move when that arrives late.
 */
function Greeting({ name, now }: { name: string; now: Date }) {
  const text = useAccountWords().home.greetings[dayPart(now)](name)
  const nameAt = text.lastIndexOf(' ', text.indexOf(name)) + 1
  return (
    <>
      {text.slice(0, nameAt)}
      <span class="greeted">{text.slice(nameAt)}</span>
    </>
  )
}

const shownRequests = 3

/** The signing requests that expire first. */
function Waiting({ pending: { count, requests }, onGo }: { pending: Pending; onGo: (section: Section) => void }) {
  const words = useAccountWords().home
  const shown = requests.slice(0, shownRequests)
  if (count === 0) return null
  return (
    <Card
      accent
      flush
      title={
        <>
          {words.waiting} <span class="count">{formatNumber(count)}</span>
        </>
      }
      {...(count > shown.length && {
        foot: <GoTo section="signing" label={words.moreWaiting(count - shown.length)} onGo={onGo} />,
      })}
    >
      <ul class="list">
        {shown.map((request, index) => (
          <WaitingRequest key={request.requestId} request={request} isFirst={index === 0} />
        ))}
      </ul>
    </Card>
  )
}

type WaitingRequestProps = { request: Pending['requests'][number]; isFirst: boolean }

function WaitingRequest({
  request: { requestId, app, title, handle, organization, expiresAt },
  isFirst,
}: WaitingRequestProps) {
  const words = useAccountWords().home
  const { language, words: shared } = useLocale()
  const left = Math.max(0, new Date(expiresAt).getTime() - Date.now())
  const { as, asMember } = shared.signing
  return (
    <li>
      <Avatar kind="app" name={app.name} toneOf={app.clientId} />
      <div class="body">
        <strong>{app.name}</strong>
        <RequestTitle of={title} />
        <small>
          {organization ? asMember(organization.name, handle) : as(handle)} ·{' '}
          <span class="amber">{words.left(formatDuration(left, language))}</span>
        </small>
      </div>
      <div class="acts">
        <a
          class={isFirst ? 'button primary' : 'button'}
          data-action="read-request"
          href={`/sign?requestId=${requestId}`}
          aria-label={words.readOf(app.name)}
        >
          {words.read}
        </a>
      </div>
    </li>
  )
}

const shownApps = 6

/** The apps that were used last, each once. */
function ConnectedApps({ data: { authorizations, session }, onGo }: HomeProps) {
  const words = useAccountWords().home
  const handleOf = (id: string) => session.identities.find(({ identityId }) => identityId === id)?.handle ?? ''
  const latest = authorizations.toSorted((one, other) => other.lastAuthorizedAt.localeCompare(one.lastAuthorizedAt))
  const all = <GoTo section="apps" label={words.allApps(latest.length)} onGo={onGo} />
  return (
    <Card title={words.apps} actions={latest.length > shownApps ? all : undefined}>
      {latest.length === 0 ? (
        <Empty icon="app-window" title={words.noApps}>
          <p>{words.noAppsWhat}</p>
        </Empty>
      ) : (
        <ul class="app-grid">
          {latest.slice(0, shownApps).map(({ id, appName, appIconUrl, clientId, identityId }) => (
            <li key={id}>
              <RouteLink href={routePath('apps')} onFollow={() => onGo('apps')}>
                <Avatar kind="app" size="lg" name={appName} picture={appIconUrl} toneOf={clientId} />
                <span>{appName}</span>
                <small>{atHandle(handleOf(identityId))}</small>
              </RouteLink>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
