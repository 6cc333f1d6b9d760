import type { Answer } from '@countersign/protocol/api'
import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../lib/call.ts'
import { mustSignIn, signOut, type Session } from '../../lib/session.ts'
import { ActionButton, Actions } from '../../components/form/Actions.tsx'
import { useDoing } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { useRoute } from '../../components/frame/route.ts'
import { Waiting } from '../../components/display/Waiting.tsx'
import { Activity } from './data/Activity.tsx'
import { Apps } from './apps/Apps.tsx'
import { Data } from './data/Data.tsx'
import { readDelegations } from './apps/delegation-list.ts'
import { Identities } from './identities/Identities.tsx'
import { Navigation } from './Navigation.tsx'
import { readNews, useNews } from './news.ts'
import { Passkeys } from './passkeys/Passkeys.tsx'
import { latestOf, type Pending } from './signing/pending.ts'
import { pathOf, sectionOf } from './sections.ts'
import { Sessions } from './devices/Sessions.tsx'
import { Signing } from './signing/Signing.tsx'
import { Knock } from './devices/WaitingDevices.tsx'

/** Everything that the sections show, read at once: going from one to another then waits for nothing. */
export type Holdings = {
  session: Session
  passkeys: Answer<'GET /api/auth/passkeys'>['passkeys']
  sessions: Answer<'GET /api/auth/sessions'>['sessions']
  /** Since when the recovery code is in force, if one is; and whether one opens the keys, as a spent one still does. */
  recoverySince: string | null
  codeOpensKeys: boolean
  authorizations: Answer<'GET /api/oauth/authorizations'>['authorizations']
  /** What apps may do at others, and what they might until lately. */
  delegations: Delegation[]
  signingKeys: Answer<'GET /api/signing/keys'>['keys']
  /** What waits for a signature. */
  pending: Pending
  /** Which other devices ask to be unlocked. */
  devices: Answer<'GET /api/account/device-approvals'>['devices']
}

export function Account() {
  const words = useWords().account
  const doing = useDoing()
  // Apart, so that nobody has to wait for the page before they can leave it.
  const leaving = useDoing()
  const [section, goTo] = useRoute({ placeOf: sectionOf, pathOf })
  const [holdings, setHoldings] = useState<Holdings>()
  useNews(holdings?.pending.requests.length ?? 0, ({ pending, devices }) =>
    setHoldings((held) => held && { ...held, devices, pending: latestOf(held.pending, pending) }),
  )

  const isLeaving = useRef(false)
  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => {
      const found = await readHoldings()
      if (found) return setHoldings(found)
      // Whoever signs out while they wait is on their way to the start page.
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
    <Frame
      title={words.title}
      wide
      forOrganizations
      forDevelopers
      aside={<ActionButton action={leave} doing={leaving} />}
    >
      <Navigation
        current={section}
        waiting={{ signing: holdings?.pending.count ?? 0, sessions: holdings?.devices.length ?? 0 }}
        onChoose={goTo}
      />
      {holdings ? (
        <>
          {section === 'identities' && <Identities holdings={holdings} onChange={setHoldings} />}
          {section === 'signing' && <Signing holdings={holdings} onChange={setHoldings} />}
          {section === 'passkeys' && <Passkeys holdings={holdings} onChange={setHoldings} />}
          {section === 'sessions' && <Sessions holdings={holdings} onChange={setHoldings} />}
          {section === 'apps' && <Apps holdings={holdings} onChange={setHoldings} />}
          {section === 'activity' && <Activity holdings={holdings} />}
          {section === 'data' && <Data session={holdings.session} />}
          <Actions of={[]} doing={leaving} />
          <Knock count={section === 'sessions' ? 0 : holdings.devices.length} onLook={() => goTo('sessions')} />
        </>
      ) : (
        <section class="step">
          {doing.problem === undefined ? <Waiting /> : <Actions of={[read]} doing={doing} />}
        </section>
      )}
    </Frame>
  )
}

/** Undefined where nobody is signed in. */
async function readHoldings(): Promise<Holdings | undefined> {
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
      readDelegations(),
      call('GET /api/signing/keys', {}),
      readNews(),
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
    if (mustSignIn(error)) return undefined
    throw error
  }
}
