import { useEffect, useState } from 'preact/hooks'
import { returnAddress } from '../return-address.ts'
import { readSession } from '../session.ts'
import { Authenticate } from '../ui/Authenticate.tsx'
import { useDoing } from '../ui/doing.ts'
import { Frame } from '../ui/Frame.tsx'
import { useWords } from '../ui/Root.tsx'
import { Waiting } from '../ui/Waiting.tsx'

export function Login() {
  const words = useWords().login
  const doing = useDoing()
  const [strange, setStrange] = useState(false)
  const returnTo = returnAddress(location.search, location.origin)
  const leave = () => location.replace(returnTo)
  useEffect(() => {
    // Whoever is signed in already has nothing to do here; whether the server can be reached shows when they try.
    readSession().then(
      (session) => (session ? leave() : setStrange(true)),
      () => setStrange(true),
    )
  }, [])
  return (
    <Frame title={words.title}>
      <section class="step">
        <h1>{words.title}</h1>
        {strange ? <Authenticate returnTo={returnTo} doing={doing} onSignedIn={leave} /> : <Waiting />}
      </section>
    </Frame>
  )
}
