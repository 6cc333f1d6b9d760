import type { ResponseOf } from '@countersign/protocol/api'
import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import { isSignInRequired, signOut, type Session } from '../../lib/session/session.ts'
import { ActionButton, Actions } from '../../components/form/Actions.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { useRoute } from '../../components/frame/route.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { Activity } from './data/Activity.tsx'
import { Apps } from './apps/Apps.tsx'
import { DataAndDeletion } from './data/Data.tsx'
import { fetchDelegations } from './apps/delegation-list.ts'
import { Identities } from './identities/Identities.tsx'
import { Navigation } from './Navigation.tsx'
import { fetchPendingItems, usePendingItems } from './pending-items.ts'
import { Passkeys } from './passkeys/Passkeys.tsx'
import { latestOf, type Pending } from './signing/pending.ts'
import { routePath, sectionOf } from './Navigation.tsx'
import { Sessions } from './devices/Sessions.tsx'
import { Signing } from './signing/Signing.tsx'
import { PendingDeviceNotice } from './devices/WaitingDevices.tsx'

/** The data of all sections, loaded at once, so that switching between sections loads nothing. */
export type AccountData = {
  session: Session
  passkeys: ResponseOf<'GET /api/auth/passkeys'>['passkeys']
  sessions: ResponseOf<'GET /api/auth/sessions'>['sessions']
  /**
   * `recoverySince`: when the current recovery code was created, null if there is none. A used code may still unlock
   * the keys.
   */
  recoverySince: string | null
  codeOpensKeys: boolean
  authorizations: ResponseOf<'GET /api/oauth/authorizations'>['authorizations']
  /** The user's delegations, and those that ended recently. */
  delegations: Delegation[]
  signingKeys: ResponseOf<'GET /api/signing/keys'>['keys']
  /** The signing requests that wait for the user. */
  pending: Pending
  /** The other devices that request to be unlocked. */
  devices: ResponseOf<'GET /api/account/device-approvals'>['devices']
}

export function Account() {
  const words = useMessages().account
  const doing = useActions()
  // Independent of the data, so that users can sign out before it has loaded.
  const leaving = useActions()
  const [section, goTo] = useRoute({ parseRoute: sectionOf, routePath })
  const [data, setData] = useState<AccountData>()
  usePendingItems(data?.pending.requests.length ?? 0, ({ pending, devices }) =>
    setData((current) => current && { ...current, devices, pending: latestOf(current.pending, pending) }),
  )

  const isLeaving = useRef(false)
  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const found = await readData()
      if (found) return setData(found)
      // A user who signs out while the data loads is redirected to the start page instead.
      if (!isLeaving.current) location.replace('/login')
    },
  }
  useEffect(() => void doing.perform(read), [])

  const leave = {
    name: 'sign-out',
    label: words.signOut,
    look: 'quiet' as const,
    do: async () => {
      isLeaving.current = true
      await signOut()
      location.assign('/')
    },
  }
  return (
    <PageLayout title={words.title} wide aside={<ActionButton action={leave} doing={leaving} />}>
      <Navigation
        current={section}
        waiting={{ signing: data?.pending.count ?? 0, sessions: data?.devices.length ?? 0 }}
        onChoose={goTo}
      />
      {data ? (
        <>
          {section === 'identities' && <Identities data={data} onChange={setData} />}
          {section === 'signing' && <Signing data={data} onChange={setData} />}
          {section === 'passkeys' && <Passkeys data={data} onChange={setData} />}
          {section === 'sessions' && <Sessions data={data} onChange={setData} />}
          {section === 'apps' && <Apps data={data} onChange={setData} />}
          {section === 'activity' && <Activity data={data} />}
          {section === 'data' && <DataAndDeletion session={data.session} />}
          <Actions of={[]} doing={leaving} />
          <PendingDeviceNotice
            count={section === 'sessions' ? 0 : data.devices.length}
            onLook={() => goTo('sessions')}
          />
        </>
      ) : (
        <section class="step">
          {doing.problem === undefined ? <Spinner /> : <Actions of={[read]} doing={doing} />}
        </section>
      )}
    </PageLayout>
  )
}

/** Returns undefined if no user is signed in. */
async function readData(): Promise<AccountData | undefined> {
  try {
    const [
      session,
      { passkeys },
      { sessions },
      recovery,
      { keyWraps },
      { authorizations },
      delegations,
      { keys },
      news,
    ] = await Promise.all([
      call('GET /api/auth/session', {}),
      call('GET /api/auth/passkeys', {}),
      call('GET /api/auth/sessions', {}),
      call('GET /api/account/recovery', {}),
      call('GET /api/account/key-wraps', {}),
      call('GET /api/oauth/authorizations', {}),
      fetchDelegations(),
      call('GET /api/signing/keys', {}),
      fetchPendingItems(),
    ])
    const codeOpensKeys = keyWraps.some(({ kind }) => kind === 'recovery_code')
    return {
      session,
      passkeys,
      sessions,
      recoverySince: recovery.createdAt,
      codeOpensKeys,
      authorizations,
      delegations,
      signingKeys: keys,
      ...news,
    }
  } catch (error) {
    if (isSignInRequired(error)) return undefined
    throw error
  }
}
