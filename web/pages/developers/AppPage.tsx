import type { App } from '@countersign/protocol/clients/apps'
import { call } from '../../lib/call.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../components/form/doing.ts'
import { InPageLink } from '../../components/frame/InPageLink.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { AppEnd } from './AppEnd.tsx'
import { AppResources } from './resources/AppResources.tsx'
import { AppSecret } from './AppSecret.tsx'
import { AppSettings } from './AppSettings.tsx'
import { AppWebhook } from './webhooks/AppWebhook.tsx'
import { Credentials } from './Credentials.tsx'
import type { Told } from './Developers.tsx'
import { FirstSignIn } from './FirstSignIn.tsx'
import { NewSecret } from './NewSecret.tsx'
import { pathOf, type GoTo } from './places.ts'
import { useWords } from './words.ts'

type Props = {
  /** Undefined where the person has no such app. */
  app: App | undefined
  told: Told | undefined
  goTo: GoTo
  onTold: (told: Told | undefined) => void
  onChanged: (app: App) => void
  onDeleted: () => void
}

/** An app: its secret while that can be seen, what a library needs of it, and below that a section for each concern. */
export function AppPage({ app, told, goTo, onTold, onChanged, onDeleted }: Props) {
  const words = useWords().developers
  const back = (
    <p>
      <InPageLink class="back" href={pathOf({ at: 'list' })} onFollow={() => goTo({ at: 'list' })}>
        {words.back}
      </InPageLink>
    </p>
  )
  if (!app)
    return (
      <section class="step">
        <StepHeading>{words.unknown}</StepHeading>
        {back}
      </section>
    )
  return (
    <section class="step">
      {back}
      <StepHeading>{app.name}</StepHeading>
      {app.status === 'disabled' && <Disabled app={app} onChanged={onChanged} />}
      {told && (
        <NewSecret
          name="clientSecret"
          secret={told.clientSecret}
          previousUntil={told.previousUntil}
          onSaved={() => onTold(undefined)}
        />
      )}
      <Credentials app={app} />
      <FirstSignIn app={app} />
      <AppSettings app={app} onChanged={onChanged} />
      <AppWebhook app={app} />
      <AppResources app={app} />
      {!app.public && <AppSecret app={app} onTold={onTold} />}
      <AppEnd app={app} onDeleted={onDeleted} />
    </section>
  )
}

function Disabled({ app: { clientId }, onChanged }: { app: App; onChanged: (app: App) => void }) {
  const words = useWords().developers
  const doing = useDoing()
  const enable: Action = {
    name: 'enable-app',
    label: words.enable,
    look: 'secondary',
    do: async () => {
      const body = { status: 'active' } as const
      onChanged(await call('PATCH /api/developer/apps/:clientId', { params: { clientId }, body }))
    },
  }
  return (
    <>
      <p class="problem">{words.disabledWhat}</p>
      <Actions of={[enable]} doing={doing} />
    </>
  )
}
