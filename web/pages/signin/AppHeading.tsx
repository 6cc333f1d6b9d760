import type { PublicApp } from '@countersign/protocol/clients/apps'
import type { SignInView, Unverified } from '@countersign/protocol/pages'
import { placeOf } from '../../lib/place.ts'
import { Monogram } from '../../components/display/Monogram.tsx'
import { useWords } from '../../components/frame/Root.tsx'

/** Which app asks. */
export function AppHeading({ app, unverified }: Pick<SignInView, 'app' | 'unverified'>) {
  return unverified ? <Stranger app={app} {...unverified} /> : <Registered app={app} />
}

/** Its website is text: nobody should wander off from here. */
function Registered({ app }: { app: PublicApp }) {
  const words = useWords().signin
  return (
    <header class="app-heading">
      <Monogram name={app.name} />
      <h1>
        <small>{words.to}</small> {app.name}
      </h1>
      {app.websiteUrl !== null && <p class="place">{placeOf(app.websiteUrl)}</p>}
    </header>
  )
}

/** An app that nobody has registered: the host is sure, so it comes first; the name is what the app says itself. */
function Stranger({ app, host, onDevice }: { app: PublicApp } & Unverified) {
  const words = useWords().signin
  return (
    <>
      <header class="app-heading">
        <Monogram name={host} />
        <h1>
          <small>{words.to}</small> {host}
        </h1>
        <OwnWords app={app} host={host} />
      </header>
      <Caution onDevice={onDevice} />
    </>
  )
}

/** The name that an app which nobody has registered gives itself. */
export function OwnWords({ app: { name }, host }: { app: PublicApp; host: string }) {
  const words = useWords().signin
  return name !== host && <p class="own-words">{words.callsItself(name)}</p>
}

export function Caution({ onDevice }: Pick<Unverified, 'onDevice'>) {
  const words = useWords().signin
  return (
    <p>
      {words.unverified} {onDevice && words.onDevice}
    </p>
  )
}
