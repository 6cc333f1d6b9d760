import type { App } from '@countersign/protocol/clients/apps'
import { limits } from '@countersign/protocol/formats/limits'
import { dayOf } from '../../lib/text/dates.ts'
import { RouteLink } from '../../components/frame/route.tsx'
import { Monogram } from '../../components/display/Monogram.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { routePath, type Navigate, type DeveloperRoute } from './routes.ts'
import { useLocale } from './words.ts'

type Props = { apps: App[]; goTo: Navigate }

export function AppList({ apps, goTo }: Props) {
  const words = useLocale().words.developers
  return (
    <section class="step">
      <StepHeading>{words.title}</StepHeading>
      {apps.length === 0 && <p class="lead">{words.none}</p>}
      <ul class="entries">
        {apps.map((app) => (
          <li key={app.clientId} class="entry with-monogram">
            <Monogram name={app.name} />
            <Description of={app} goTo={goTo} />
          </li>
        ))}
      </ul>
      {apps.length < limits.appsPerUserMax ? (
        <p>
          <RouteLink
            class={apps.length === 0 ? 'button primary' : 'button secondary'}
            action="new-app"
            href={routePath({ at: 'new' })}
            onFollow={() => goTo({ at: 'new' })}
          >
            {words.add}
          </RouteLink>
        </p>
      ) : (
        <p>{words.tooMany}</p>
      )}
    </section>
  )
}

function Description({ of: app, goTo }: { of: App; goTo: Navigate }) {
  const { words, language } = useLocale()
  const place: DeveloperRoute = { at: 'app', clientId: app.clientId }
  return (
    <div>
      <h2>
        <RouteLink class="entry-link" href={routePath(place)} onFollow={() => goTo(place)}>
          {app.name}
        </RouteLink>
      </h2>
      <p class="place">{app.clientId}</p>
      <p>
        {words.developers.since(dayOf(app.createdAt, language, new Date()))}
        {app.status === 'disabled' && `, ${words.developers.disabled}`}
      </p>
    </div>
  )
}
