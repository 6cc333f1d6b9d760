import type { App } from '@countersign/protocol/clients/apps'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../lib/call.ts'
import { addressWithReturn } from '../../lib/return-address.ts'
import { mustSignIn } from '../../lib/session.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useDoing } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { useRoute } from '../../components/frame/route.ts'
import { Waiting } from '../../components/display/Waiting.tsx'
import { AppList } from './AppList.tsx'
import { AppPage } from './AppPage.tsx'
import { NewApp } from './NewApp.tsx'
import { pathOf, placeOf } from './places.ts'
import { useWords } from './words.ts'

/** A secret that has just been made. It is in the memory of this page alone, and forgotten where the person goes on. */
export type Told = { clientSecret: string; previousUntil?: string }

export function Developers() {
  const words = useWords().developers
  const doing = useDoing()
  const [apps, setApps] = useState<App[]>()
  const [told, setTold] = useState<Told>()
  const [place, goTo] = useRoute({ placeOf, pathOf }, () => setTold(undefined))

  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const found = await readApps()
      if (found) return setApps(found)
      location.replace(addressWithReturn('/login', location.pathname))
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
      <Frame title={words.title} wide aside={account}>
        <section class="step">
          {doing.problem === undefined ? <Waiting /> : <Actions of={[read]} doing={doing} />}
        </section>
      </Frame>
    )

  const app = place.at === 'app' ? apps.find(({ clientId }) => clientId === place.clientId) : undefined
  const title = place.at === 'new' ? words.newTitle : (app?.name ?? words.title)
  return (
    <Frame title={title} wide aside={account}>
      {place.at === 'list' && <AppList apps={apps} goTo={goTo} />}
      {place.at === 'new' && (
        <NewApp
          goTo={goTo}
          onCreated={({ clientSecret, ...created }) => {
            setApps([created, ...apps])
            goTo({ at: 'app', clientId: created.clientId }, { replacing: true })
            if (clientSecret !== undefined) setTold({ clientSecret })
          }}
        />
      )}
      {place.at === 'app' && (
        <AppPage
          key={place.clientId}
          app={app}
          told={told}
          goTo={goTo}
          onTold={setTold}
          onChanged={(changed) => setApps(apps.map((each) => (each.clientId === changed.clientId ? changed : each)))}
          onDeleted={() => {
            setApps(apps.filter((each) => each !== app))
            goTo({ at: 'list' }, { replacing: true })
          }}
        />
      )}
    </Frame>
  )
}

/** Undefined where nobody is signed in. */
async function readApps(): Promise<App[] | undefined> {
  try {
    return (await call('GET /api/developer/apps', {})).apps
  } catch (error) {
    if (mustSignIn(error)) return undefined
    throw error
  }
}
