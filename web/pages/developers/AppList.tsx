import type { App } from '@countersign/protocol/clients/apps'
import { limits } from '@countersign/protocol/formats/limits'
import { dayOf } from '../../lib/text/dates.ts'
import { InPageLink } from '../../components/frame/InPageLink.tsx'
import { Monogram } from '../../components/display/Monogram.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { pathOf, type GoTo, type Place } from './places.ts'
import { useSpeech } from './words.ts'

type Props = { apps: App[]; goTo: GoTo }

export function AppList({ apps, goTo }: Props) {
  const words = useSpeech().words.developers
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
          <InPageLink
            class={apps.length === 0 ? 'button primary' : 'button secondary'}
            action="new-app"
            href={pathOf({ at: 'new' })}
            onFollow={() => goTo({ at: 'new' })}
          >
            {words.add}
          </InPageLink>
        </p>
      ) : (
        <p>{words.tooMany}</p>
      )}
    </section>
  )
}

function Description({ of: app, goTo }: { of: App; goTo: GoTo }) {
  const { words, language } = useSpeech()
  const place: Place = { at: 'app', clientId: app.clientId }
  return (
    <div>
      <h2>
        <InPageLink class="entry-link" href={pathOf(place)} onFollow={() => goTo(place)}>
          {app.name}
        </InPageLink>
      </h2>
      <p class="place">{app.clientId}</p>
      <p>
        {words.developers.since(dayOf(app.createdAt, language, new Date()))}
        {app.status === 'disabled' && `, ${words.developers.disabled}`}
      </p>
    </div>
  )
}
