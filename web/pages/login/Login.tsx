import { useEffect, useState } from 'preact/hooks'
import { asksForOther, asksForProof, returnAddress } from '../../lib/return-address.ts'
import { readOwnSession } from '../../lib/session.ts'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { useDoing } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { Waiting } from '../../components/display/Waiting.tsx'
import { readSite } from '../../lib/view.ts'
import { ProveAgain } from './ProveAgain.tsx'

export function Login() {
  const words = useWords().login
  const doing = useDoing()
  const [present, setPresent] = useState<'nobody' | 'somebody'>()
  const returnTo = returnAddress(location.search, readSite())
  const leave = () => location.replace(returnTo)
  const proves = asksForProof(location.search)
  useEffect(() => {
    if (asksForOther(location.search)) return setPresent('nobody')
    // Whoever is signed in already has nothing to do here; whether the server can be reached shows when they try.
    readOwnSession().then(
      (session) => (session && !proves ? leave() : setPresent(session ? 'somebody' : 'nobody')),
      () => setPresent('nobody'),
    )
  }, [])
  return (
    <Frame title={words.title}>
      <section class="step">
        {present === 'somebody' ? <ProveAgain onProved={leave} /> : <h1>{words.title}</h1>}
        {present === undefined && <Waiting />}
        {present === 'nobody' && <Authenticate returnTo={returnTo} doing={doing} onSignedIn={leave} />}
      </section>
    </Frame>
  )
}
