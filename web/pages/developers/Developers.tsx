import type { App } from '@countersign/protocol/clients/apps'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import { withReturnUrl } from '../../lib/navigation.ts'
import { isSignInRequired } from '../../lib/session/session.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useRoute } from '../../components/frame/route.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { AppList } from './AppList.tsx'
import { AppPage } from './AppPage.tsx'
import { NewApp } from './NewApp.tsx'
import { routePath, parseRoute } from './routes.ts'
import { useMessages } from './words.ts'

/** A secret that was just created. Only the memory of this page holds it, until the developer continues. */
export type IssuedClientSecret = { clientSecret: string; previousUntil?: string }

export function Developers() {
  const words = useMessages().developers
  const doing = useActions()
  const [apps, setApps] = useState<App[]>()
  const [issued, setIssued] = useState<IssuedClientSecret>()
  const [place, goTo] = useRoute({ parseRoute, routePath }, () => setIssued(undefined))

  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const found = await readApps()
      if (found) return setApps(found)
      location.replace(withReturnUrl('/login', location.pathname))
    },
  }
  useEffect(() => void doing.perform(read), [])

  const account = (
    <a class="button quiet" href="/account">
      {words.account}
    </a>
  )
  if (!apps)
    return (
      <PageLayout title={words.title} wide aside={account}>
        <section class="step">
          {doing.problem === undefined ? <Spinner /> : <Actions of={[read]} doing={doing} />}
        </section>
      </PageLayout>
    )

  const app = place.at === 'app' ? apps.find(({ clientId }) => clientId === place.clientId) : undefined
  const title = place.at === 'new' ? words.newTitle : (app?.name ?? words.title)
  return (
    <PageLayout title={title} wide aside={account}>
      {place.at === 'list' && <AppList apps={apps} goTo={goTo} />}
      {place.at === 'new' && (
        <NewApp
          goTo={goTo}
          onCreated={({ clientSecret, ...created }) => {
            setApps([created, ...apps])
            goTo({ at: 'app', clientId: created.clientId }, { replacing: true })
            if (clientSecret !== undefined) setIssued({ clientSecret })
          }}
        />
      )}
      {place.at === 'app' && (
        <AppPage
          key={place.clientId}
          app={app}
          issued={issued}
          goTo={goTo}
          onIssued={setIssued}
          onChanged={(changed) => setApps(apps.map((each) => (each.clientId === changed.clientId ? changed : each)))}
          onDeleted={() => {
            setApps(apps.filter((each) => each !== app))
            goTo({ at: 'list' }, { replacing: true })
          }}
        />
      )}
    </PageLayout>
  )
}

/** Returns undefined if no user is signed in. */
async function readApps(): Promise<App[] | undefined> {
  try {
    return (await call('GET /api/developer/apps', {})).apps
  } catch (error) {
    if (isSignInRequired(error)) return undefined
    throw error
  }
}
