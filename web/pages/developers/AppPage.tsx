import type { App } from '@countersign/protocol/clients/apps'
import { keepFocus } from '../../lib/focus.ts'
import { redirectTargetLabel } from '../../lib/navigation.ts'
import { call } from '../../lib/api/call.ts'
import { dayOf } from '../../lib/text/dates.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import { RouteLink } from '../../components/frame/route.tsx'
import { PageHead, StepHeading } from '../../components/frame/Frame.tsx'
import { OnDemand } from '../../components/frame/OnDemand.tsx'
import { Card } from '../../components/ui/Card.tsx'
import { Chip } from '../../components/ui/Chip.tsx'
import { Tabs } from '../../components/ui/Tabs.tsx'
import { AppAvatar } from './AppSwitcher.tsx'
import type { IssuedSecretsState } from './danger/IssuedSecrets.tsx'
import type { OwnApp } from './Developers.tsx'
import { Quickstart } from './quickstart/Quickstart.tsx'
import { type AppTab, appTabs, type Navigate, routePath } from './routes.ts'
import { type SettingsDrafts, useSettingsDraft } from './settings/unsaved-settings.ts'
import type { KeptForms } from './unsaved/kept-input.ts'
import { useUsage } from './usage/use-usage.ts'
import { useLocale, useMessages } from './words.ts'

const loadSettings = async () => (await import('./settings/AppSettings.tsx')).AppSettings
const loadWebhook = async () => (await import('./webhooks/AppWebhook.tsx')).AppWebhook
const loadResources = async () => (await import('./resources/AppResources.tsx')).AppResources
const loadUsage = async () => (await import('./usage/Usage.tsx')).Usage
const loadDanger = async () => (await import('./danger/Danger.tsx')).Danger

type Props = {
  /** Undefined if the developer has no such app. */
  app: OwnApp | undefined
  tab: AppTab
  issued: IssuedSecretsState
  drafts: SettingsDrafts
  kept: KeptForms
  goTo: Navigate
  onChanged: (app: App) => void
  onDeleted: () => void
}

/** An app: a tab for each thing that a developer does with it. */
export function AppPage({ app, ...rest }: Props) {
  return app ? <KnownApp app={app} {...rest} /> : <UnknownApp goTo={rest.goTo} />
}

function UnknownApp({ goTo }: Pick<Props, 'goTo'>) {
  const words = useMessages().developers
  return (
    <PageHead
      title={words.unknown}
      lead={words.unknownWhat}
      actions={
        <RouteLink
          class="button"
          action="all-apps"
          href={routePath({ at: 'list' })}
          onFollow={() => goTo({ at: 'list' })}
        >
          {words.back}
        </RouteLink>
      }
    />
  )
}

type KnownProps = Omit<Props, 'app'> & { app: OwnApp }

function KnownApp({ app, tab, issued, drafts, kept, goTo, onChanged, onDeleted }: KnownProps) {
  const words = useMessages().developers
  const usage = useUsage(app.clientId, { isAwaited: tab === 'quickstart' })
  const form = useSettingsDraft(app, drafts)
  const lastSignInAt = usage.current?.lastSignInAt ?? app.lastSignInAt
  const { clientId } = app
  const clientSecret = issued.clientSecretOf(clientId)
  return (
    <>
      <AppHead app={app} lastSignInAt={lastSignInAt} />
      <Tabs
        label={app.name}
        tabs={appTabs.map((each) => ({
          label: words.tabs[each],
          href: routePath({ at: 'app', clientId, tab: each }),
          current: each === tab,
          action: `tab-${each}`,
          onFollow: () => goTo({ at: 'app', clientId, tab: each }),
        }))}
      />
      {app.status === 'disabled' && <Disabled app={app} onChanged={onChanged} />}
      {issued.isLost && tab !== 'danger' && (
        <LostSecret onReplace={() => goTo({ at: 'app', clientId, tab: 'danger' })} />
      )}
      {tab === 'quickstart' && (
        <Quickstart app={app} clientSecret={clientSecret} usage={usage.current} onChanged={onChanged} />
      )}
      {tab === 'settings' && <OnDemand key={tab} load={loadSettings} given={{ app, form, onChanged }} />}
      {tab === 'webhook' && (
        <OnDemand key={tab} load={loadWebhook} given={{ app, kept: kept.webhook, onIssued: issued.add }} />
      )}
      {tab === 'resources' && <OnDemand key={tab} load={loadResources} given={{ app, kept: kept.resource }} />}
      {tab === 'usage' && <OnDemand key={tab} load={loadUsage} given={{ usage }} />}
      {tab === 'danger' && (
        <OnDemand key={tab} load={loadDanger} given={{ app, onIssued: issued.add, onChanged, onDeleted }} />
      )}
    </>
  )
}

function AppHead({ app, lastSignInAt }: { app: OwnApp; lastSignInAt: string | null }) {
  const { words, language } = useLocale()
  const { name, redirectUris } = app
  return (
    <div class="app-title">
      <AppAvatar app={app} size="lg" />
      <div>
        <StepHeading>{name}</StepHeading>
        <p class="row small soft">
          <AppState app={app} isUsed={lastSignInAt !== null} />
          <span>{redirectTargetLabel(redirectUris[0] ?? '')}</span>
          {lastSignInAt !== null && (
            <span>{words.developers.lastSignIn(dayOf(lastSignInAt, language, new Date()))}</span>
          )}
        </p>
      </div>
    </div>
  )
}

function AppState({ app, isUsed }: { app: OwnApp; isUsed: boolean }) {
  const words = useMessages().developers
  if (app.status === 'disabled')
    return (
      <Chip tone="bad" icon="ban">
        {words.disabled}
      </Chip>
    )
  return isUsed ? (
    <Chip tone="ok" icon="circle-check">
      {words.live}
    </Chip>
  ) : (
    <Chip tone="wait" icon="clock">
      {words.neverUsed}
    </Chip>
  )
}

/** Says that the secret of the app never arrived, because the response to its registration was lost. */
function LostSecret({ onReplace }: { onReplace: () => void }) {
  const words = useMessages().developers
  const doing = useActions()
  const replace: Action = {
    name: 'replace-lost-secret',
    label: words.rotate,
    look: 'secondary',
    do: () => keepFocus(async () => onReplace()),
  }
  return (
    <Card accent title={words.secretLost} about={words.secretLostWhat}>
      <Actions of={[replace]} doing={doing} />
    </Card>
  )
}

function Disabled({ app: { clientId }, onChanged }: { app: App; onChanged: (app: App) => void }) {
  const words = useMessages().developers
  const doing = useActions()
  const enable: Action = {
    name: 'enable-app',
    label: words.enable,
    look: 'secondary',
    do: () =>
      keepFocus(async () => {
        const body = { status: 'active' } as const
        onChanged(await call('PATCH /api/developer/apps/:clientId', { params: { clientId }, headers: {}, body }))
      }),
  }
  return (
    <Card accent title={words.disabledTitle} about={words.disabledWhat}>
      <Actions of={[enable]} doing={doing} />
    </Card>
  )
}
