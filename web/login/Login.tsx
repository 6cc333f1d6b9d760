import { useEffect, useState } from 'preact/hooks'
import { asksForOther, asksForProof, returnAddress } from '../return-address.ts'
import { readOwnSession } from '../session.ts'
import { Authenticate } from '../ui/Authenticate.tsx'
import { useDoing } from '../ui/doing.ts'
import { Frame } from '../ui/Frame.tsx'
import { useWords } from '../ui/Root.tsx'
import { Waiting } from '../ui/Waiting.tsx'
import { readSite } from '../view.ts'
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
