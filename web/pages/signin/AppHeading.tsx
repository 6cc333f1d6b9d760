import type { PublicApp } from '@countersign/protocol/clients/apps'
import type { Connector, SignInView, UnverifiedClient } from '@countersign/protocol/pages'
import { redirectTargetLabel } from '../../lib/navigation.ts'
import { isolate } from '../../lib/text/isolate.ts'
import { useConsentMessages } from '../../components/form/consent-words.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { AppMark } from '../../components/pictures/AppMark.tsx'
import { Avatar } from '../../components/ui/Avatar.tsx'
import { Note } from '../../components/ui/Chip.tsx'
import { Icon } from '../../components/ui/Icon.tsx'

/** Shows which app sends the request. */
export function AppHeading({ app, unverified }: Pick<SignInView, 'app' | 'unverified'>) {
  return unverified ? <Stranger app={app} {...unverified} /> : <Registered app={app} />
}

/** The website is text, so that users do not leave the page. */
function Registered({ app }: { app: PublicApp }) {
  const words = useConsentMessages().signin
  return (
    <header class="app-head">
      <AppMark clientId={app.clientId} name={app.name} picture={app.iconUrl} color={app.color} />
      <div>
        <StepHeading>
          <small>{words.to}</small> {app.name}
        </StepHeading>
        {app.websiteUrl !== null && <p class="place">{redirectTargetLabel(app.websiteUrl)}</p>}
      </div>
    </header>
  )
}

/** An app that is not registered. Its host is verified, so it comes first. The app chose its name itself. */
function Stranger({ app, host, onDevice }: { app: PublicApp } & UnverifiedClient) {
  const words = useConsentMessages().signin
  return (
    <>
      <header class="app-head">
        <Avatar name={host} kind="app" size="lg" />
        <div>
          <StepHeading>
            <small>{words.to}</small> {host}
          </StepHeading>
          <AppDescription app={app} host={host} />
        </div>
      </header>
      <UnverifiedAppWarning onDevice={onDevice} />
    </>
  )
}

/** The self-assigned name of an app that is not registered. */
function AppDescription({ app: { name }, host }: { app: PublicApp; host: string }) {
  const words = useConsentMessages().signin
  return name !== host && <p class="place">{words.callsItself(name)}</p>
}

function UnverifiedAppWarning({ onDevice }: Pick<UnverifiedClient, 'onDevice'>) {
  const words = useConsentMessages().signin
  return (
    <Note tone="wait">
      <p>{words.unverified}</p>
      {onDevice && <p>{words.onDevice}</p>}
    </Note>
  )
}

type Props = Pick<SignInView, 'app' | 'unverified'> & { connector: Connector }

/**
 * Shows which app requests to act at which other app. Each name is isolated, because it may be written in either
 * direction. The websites are text, so that users do not leave the page.
 */
export function ConnectorHeading({ app, unverified, connector: { owner } }: Props) {
  const words = useConsentMessages().connect
  const name = unverified?.host ?? app.name
  const places = [unverified ? null : app.websiteUrl, owner.websiteUrl]
  return (
    <>
      <header class="stack loose">
        <div class="duet">
          <Avatar
            name={name}
            toneOf={unverified ? undefined : app.clientId}
            picture={unverified ? null : app.iconUrl}
            kind="app"
            size="lg"
          />
          <svg class="duet-line" viewBox="0 0 100 20" aria-hidden="true" preserveAspectRatio="none">
            <path d="M2 10H92" />
          </svg>
          <span class="duet-mid">
            <Icon name="arrow-right" class="flips" />
          </span>
          <Avatar name={owner.name} toneOf={owner.clientId} picture={owner.iconUrl} kind="app" size="lg" />
        </div>
        <div class="stack tight">
          <StepHeading>{words.headline(isolate(name), isolate(owner.name))}</StepHeading>
          {unverified && <AppDescription app={app} host={unverified.host} />}
          <ul class="places-of-apps">
            {places.map((place) => place !== null && <li key={place}>{redirectTargetLabel(place)}</li>)}
          </ul>
          <p class="lead">{words.limits}</p>
        </div>
      </header>
      {unverified && <UnverifiedAppWarning {...unverified} />}
    </>
  )
}
