import type { PublicApp } from '@countersign/protocol/clients/apps'
import type { Connector, SignInView, UnverifiedClient } from '@countersign/protocol/pages'
import { redirectTargetLabel } from '../../lib/navigation.ts'
import { Monogram } from '../../components/display/Monogram.tsx'
import { useMessages } from '../../components/frame/Root.tsx'

/** Shows which app sends the request. */
export function AppHeading({ app, unverified }: Pick<SignInView, 'app' | 'unverified'>) {
  return unverified ? <Stranger app={app} {...unverified} /> : <Registered app={app} />
}

/** The website is text, so that users do not leave the page. */
function Registered({ app }: { app: PublicApp }) {
  const words = useMessages().signin
  return (
    <header class="app-heading">
      <Monogram name={app.name} />
      <h1>
        <small>{words.to}</small> {app.name}
      </h1>
      {app.websiteUrl !== null && <p class="place">{redirectTargetLabel(app.websiteUrl)}</p>}
    </header>
  )
}

/** An app that is not registered. Its host is verified, so it comes first. The app chose its name itself. */
function Stranger({ app, host, onDevice }: { app: PublicApp } & UnverifiedClient) {
  const words = useMessages().signin
  return (
    <>
      <header class="app-heading">
        <Monogram name={host} />
        <h1>
          <small>{words.to}</small> {host}
        </h1>
        <AppDescription app={app} host={host} />
      </header>
      <UnverifiedAppWarning onDevice={onDevice} />
    </>
  )
}

/** The self-assigned name of an app that is not registered. */
function AppDescription({ app: { name }, host }: { app: PublicApp; host: string }) {
  const words = useMessages().signin
  return name !== host && <p class="own-words">{words.callsItself(name)}</p>
}

function UnverifiedAppWarning({ onDevice }: Pick<UnverifiedClient, 'onDevice'>) {
  const words = useMessages().signin
  return (
    <p>
      {words.unverified} {onDevice && words.onDevice}
    </p>
  )
}

type Props = Pick<SignInView, 'app' | 'unverified'> & { connector: Connector }

/**
 * Shows which app requests to act at which other app. Each name is isolated, because it may be written in either
 * direction. The websites are text, so that users do not leave the page.
 */
export function ConnectorHeading({ app, unverified, connector: { owner } }: Props) {
  const words = useMessages().connect
  const name = unverified?.host ?? app.name
  return (
    <>
      <header class="connector-heading">
        <h1>
          <Monogram name={name} />
          <bdi>{name}</bdi> <small>{words.wants}</small> <Monogram name={owner.name} />
          <bdi>{owner.name}</bdi>
        </h1>
        {unverified && <AppDescription app={app} host={unverified.host} />}
        {!unverified && app.websiteUrl !== null && <p class="place">{redirectTargetLabel(app.websiteUrl)}</p>}
        {owner.websiteUrl !== null && <p class="place of-target">{redirectTargetLabel(owner.websiteUrl)}</p>}
      </header>
      {unverified && <UnverifiedAppWarning {...unverified} />}
    </>
  )
}
