import type { ResponseOf } from '@countersign/protocol/api'
import type { App } from '@countersign/protocol/clients/apps'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import { withReturnUrl } from '../../lib/navigation.ts'
import { readSiteSettings } from '../../lib/page-data.ts'
import { fetchOwnSession, isSignInRequired, type Session } from '../../lib/session/session.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { ErrorMessage } from '../../components/form/Dialog.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { useSignOut } from '../../components/form/use-sign-out.ts'
import { PageHead } from '../../components/frame/Frame.tsx'
import { Shell, type ShellSection } from '../../components/frame/Shell.tsx'
import { showUser } from '../../components/frame/shown-user.ts'
import { useRoute } from '../../components/frame/route.tsx'
import { Skeleton } from '../../components/ui/Card.tsx'
import { AppList } from './AppList.tsx'
import { AppPage } from './AppPage.tsx'
import { AppSwitcher } from './AppSwitcher.tsx'
import { IssuedSecrets, useIssuedSecrets } from './danger/IssuedSecrets.tsx'
import { NewApp } from './NewApp.tsx'
import { type DeveloperRoute, type Navigate, routePath, parseRoute } from './routes.ts'
import { useRegistration } from './register-app.ts'
import { useSettingsDrafts } from './settings/unsaved-settings.ts'
import { useKeptForms } from './unsaved/kept-input.ts'
import { useMessages } from './words.ts'

/** An app with its last sign-in, if that is known. */
export type OwnApp = ResponseOf<'GET /api/developer/apps'>['apps'][number]

export function Developers() {
  const words = useMessages().developers
  const { apps, setApps, identities, doing, read } = useOwnApps()
  const drafts = useSettingsDrafts(apps)
  const kept = useKeptForms()
  const register = useRegistration(apps ?? [])
  const signingOut = useSignOut()
  const [place, goTo] = useRoute({ parseRoute, routePath })
  const here = place.at === 'app' ? place.clientId : undefined
  const issued = useIssuedSecrets(here)

  const app = place.at === 'app' ? apps?.find(({ clientId }) => clientId === place.clientId) : undefined
  const title = place.at === 'new' ? words.newTitle : (app?.name ?? words.title)
  return (
    <Shell
      area="developers"
      title={title}
      part={app && place.at === 'app' ? words.tabs[place.tab] : undefined}
      sections={useSections(place, goTo)}
      user={identities[0]}
      onSignOut={signingOut.leave}
      context={here === undefined ? undefined : <Context apps={apps} current={app} goTo={goTo} />}
    >
      <ErrorMessage of={signingOut.problem} />
      <IssuedSecrets of={issued} />
      {!apps && (
        <>
          <PageHead title={words.title} lead={words.lead} />
          {doing.problem === undefined ? <Skeleton /> : <Actions of={[read]} doing={doing} />}
        </>
      )}
      {apps && place.at === 'list' && <AppList apps={apps} goTo={goTo} />}
      {apps && place.at === 'new' && (
        <NewApp
          identities={identities}
          kept={kept.newApp}
          goTo={goTo}
          register={register}
          onCreated={({ clientSecret, ...created }) => {
            const { clientId } = created
            setApps((current = []) => [{ ...created, lastSignInAt: null }, ...current])
            if (clientSecret !== undefined) issued.add({ name: 'clientSecret', app: created, secret: clientSecret })
            else if (!created.public) issued.addLost(clientId)
            goTo({ at: 'app', clientId, tab: 'quickstart' }, { replacing: true })
          }}
        />
      )}
      {apps && place.at === 'app' && (
        <AppPage
          key={place.clientId}
          app={app}
          tab={place.tab}
          issued={issued}
          drafts={drafts}
          kept={kept}
          goTo={goTo}
          onChanged={(changed) => setApps((current) => current?.map((each) => withChange(each, changed)))}
          onDeleted={() => {
            kept.dropOf(place.clientId)
            setApps((current) => current?.filter(({ clientId }) => clientId !== place.clientId))
            goTo({ at: 'list' }, { replacing: true })
          }}
        />
      )}
    </Shell>
  )
}

/** Loads the apps of the user, and who that is. Users who are not signed in go to sign in. */
function useOwnApps() {
  const words = useMessages().developers
  const doing = useActions()
  const [apps, setApps] = useState<OwnApp[]>()
  const [session, setSession] = useState<Session>()
  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const found = await readApps()
      if (!found) return location.replace(withReturnUrl('/login', location.pathname))
      setApps(found.apps)
      setSession(found.session)
    },
  }
  useEffect(() => void doing.perform(read), [])
  return { apps, setApps, identities: session?.identities ?? [], doing, read }
}

/** The switch between apps, or its room while they are loading. */
function Context({ apps, current, goTo }: { apps: OwnApp[] | undefined; current: OwnApp | undefined; goTo: Navigate }) {
  if (apps && current) return <AppSwitcher apps={apps} current={current} goTo={goTo} />
  return <span class="context-room" />
}

function withChange(app: OwnApp, changed: App): OwnApp {
  return app.clientId === changed.clientId ? { ...app, ...changed } : app
}

function useSections(place: DeveloperRoute, goTo: Navigate): ShellSection[] {
  const words = useMessages().developers
  const { baseUrl, demo } = readSiteSettings()
  const list = { at: 'list' } as const
  return [
    {
      href: routePath(list),
      icon: 'app-window',
      label: words.apps,
      current: place.at === 'list' || place.at === 'new' || place.at === 'app',
      onFollow: () => goTo(list),
    },
    ...(demo ? [{ href: '/playground', icon: 'play' as const, label: words.playground, current: false }] : []),
    { href: '/help', icon: 'book-open', label: words.guides, current: false, group: words.learn },
    { href: `${baseUrl}/docs`, icon: 'code-xml', label: words.reference, current: false },
  ]
}

/** Returns undefined if no user is signed in. */
async function readApps(): Promise<{ apps: OwnApp[]; session: Session | undefined } | undefined> {
  try {
    const { apps } = await call('GET /api/developer/apps', {})
    const session = await fetchOwnSession()
    showUser(session?.user)
    return { apps, session }
  } catch (error) {
    if (isSignInRequired(error)) return undefined
    throw error
  }
}
