import type { App } from '@countersign/protocol/clients/apps'
import { call } from '../../lib/api/call.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import { RouteLink } from '../../components/frame/route.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { DeleteAppPanel } from './AppEnd.tsx'
import { AppResources } from './resources/AppResources.tsx'
import { AppSecret, NewSecret } from './AppSecret.tsx'
import { AppSettings } from './AppSettings.tsx'
import { AppWebhook } from './webhooks/AppWebhook.tsx'
import { Credentials, FirstSignIn } from './FirstSignIn.tsx'
import type { IssuedClientSecret } from './Developers.tsx'
import { type Navigate, routePath } from './routes.ts'
import { useMessages } from './words.ts'

type Props = {
  /** Undefined if the developer has no such app. */
  app: App | undefined
  issued: IssuedClientSecret | undefined
  goTo: Navigate
  onIssued: (issued: IssuedClientSecret | undefined) => void
  onChanged: (app: App) => void
  onDeleted: () => void
}

/**
 * An app: a new secret while it can be shown, the values that a library needs, and a section for each group of
 * settings.
 */
export function AppPage({ app, issued, goTo, onIssued, onChanged, onDeleted }: Props) {
  const words = useMessages().developers
  const back = (
    <p>
      <RouteLink class="back" href={routePath({ at: 'list' })} onFollow={() => goTo({ at: 'list' })}>
        {words.back}
      </RouteLink>
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
      {issued && (
        <NewSecret
          name="clientSecret"
          secret={issued.clientSecret}
          previousUntil={issued.previousUntil}
          onSaved={() => onIssued(undefined)}
        />
      )}
      <Credentials app={app} />
      <FirstSignIn app={app} />
      <AppSettings app={app} onChanged={onChanged} />
      <AppWebhook app={app} />
      <AppResources app={app} />
      {!app.public && <AppSecret app={app} onIssued={onIssued} />}
      <DeleteAppPanel app={app} onDeleted={onDeleted} />
    </section>
  )
}

function Disabled({ app: { clientId }, onChanged }: { app: App; onChanged: (app: App) => void }) {
  const words = useMessages().developers
  const doing = useActions()
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
