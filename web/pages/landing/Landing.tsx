import { useEffect, useState } from 'preact/hooks'
import { readOwnSession } from '../../lib/session.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { readView } from '../../lib/view.ts'
import { Flourish } from './Flourish.tsx'

export function Landing() {
  const words = useWords().landing
  const { site } = readView('landing')
  return (
    <Frame title={words.title} forDevelopers>
      <section class="step landing">
        <h1>{words.title}</h1>
        <Flourish />
        <p class="lead">{words.what}</p>
        <Ways />
        {site.demo && (
          <p class="otherwise">
            <a href="/playground">{words.playground}</a>
          </p>
        )}
      </section>
    </Frame>
  )
}

/** The ways in; for those who are in already, the way to their account. Their room is kept until that is known. */
function Ways() {
  const words = useWords().landing
  const [signedIn, setSignedIn] = useState<boolean>()
  useEffect(() => {
    // Where the server does not answer, the ways in are shown: the pages behind them will say so.
    readOwnSession().then(
      (session) => setSignedIn(session !== undefined),
      () => setSignedIn(false),
    )
  }, [])
  if (signedIn === undefined) return <div class="actions ways" />
  return (
    <div class="actions ways">
      {signedIn ? (
        <a class="button primary" href="/account">
          {words.account}
        </a>
      ) : (
        <>
          <a class="button primary" href="/register">
            {words.register}
          </a>
          <a class="button secondary" href="/login">
            {words.login}
          </a>
        </>
      )}
    </div>
  )
}
