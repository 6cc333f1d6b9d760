import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { dayOf } from '../../lib/text/dates.ts'
import { PageHead } from '../../components/frame/Frame.tsx'
import { RouteLink } from '../../components/frame/route.tsx'
import { Card, Empty } from '../../components/ui/Card.tsx'
import { Chip, Note } from '../../components/ui/Chip.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { AppAvatar } from './AppSwitcher.tsx'
import type { OwnApp } from './Developers.tsx'
import { routePath, type Navigate, type DeveloperRoute } from './routes.ts'
import { useLocale, useMessages } from './words.ts'

type Props = { apps: OwnApp[]; goTo: Navigate }

export function AppList({ apps, goTo }: Props) {
  const words = useLocale().words.developers
  const isFull = apps.length >= pageLimits.appsPerUserMax
  return (
    <>
      <PageHead title={words.title} lead={words.lead} actions={apps.length > 0 && !isFull && <AddApp goTo={goTo} />} />
      {isFull && <Note tone="wait">{words.tooMany}</Note>}
      <Card flush>
        {apps.length === 0 ? (
          <Empty icon="app-window" title={words.noneTitle} level={2}>
            <p>{words.none}</p>
            <AddApp goTo={goTo} />
          </Empty>
        ) : (
          <ul class="list apps">
            {apps.map((app) => (
              <AppRow key={app.clientId} app={app} goTo={goTo} />
            ))}
          </ul>
        )}
      </Card>
    </>
  )
}

function AddApp({ goTo }: { goTo: Navigate }) {
  const words = useMessages().developers
  return (
    <RouteLink
      class="button primary"
      action="new-app"
      href={routePath({ at: 'new' })}
      onFollow={() => goTo({ at: 'new' })}
    >
      <Icon name="plus" size="sm" />
      {words.add}
    </RouteLink>
  )
}

function AppRow({ app, goTo }: { app: OwnApp; goTo: Navigate }) {
  const { words, language } = useLocale()
  const place: DeveloperRoute = { at: 'app', clientId: app.clientId, tab: 'quickstart' }
  const day = (instant: string) => dayOf(instant, language, new Date())
  return (
    <li class="app-row">
      <AppAvatar app={app} />
      <div>
        <h2>
          <RouteLink class="app-link" href={routePath(place)} onFollow={() => goTo(place)}>
            {app.name}
          </RouteLink>
        </h2>
        <p class="soft small">{words.developers.since(day(app.createdAt))}</p>
      </div>
      <p class="small soft app-last">
        {app.status === 'disabled' ? (
          <Chip tone="bad" icon="ban">
            {words.developers.disabled}
          </Chip>
        ) : app.lastSignInAt === null ? (
          words.developers.neverUsed
        ) : (
          words.developers.lastSignIn(day(app.lastSignInAt))
        )}
      </p>
      <Icon name="chevron-right" class="flips" />
    </li>
  )
}
