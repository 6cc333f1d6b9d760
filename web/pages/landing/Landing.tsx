import { useEffect, useState } from 'preact/hooks'
import { fetchOwnSession } from '../../lib/session/session.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { readPageData } from '../../lib/page-data.ts'

/** One stroke of a pen that looks like a signature. */
const stroke = `
  M92 30C74 18 50 46 58 68 66 90 100 72 110 54 116 42 128 44 124 58 120 72 134 74 142 60 148 49 156 48 154 60
  152 72 160 74 168 62 176 48 178 44 178 60 178 74 188 60 196 52 200 48 204 52 202 60 200 70 208 72 216 62
  232 40 246 6 236 8 226 10 220 72 234 72 246 72 250 50 260 50 270 50 262 72 274 70 290 66 292 46 302 50
  310 54 296 74 308 72 330 68 350 46 400 40`

/** A hand-drawn signature on a line, animated once. */
function HeroDrawing() {
  return (
    <svg class="flourish" viewBox="0 0 420 110" aria-hidden="true">
      <path class="flourish-line" d="M1 88H419" />
      <path class="flourish-cross" d="M3 66L17 80M17 66L3 80" />
      <path class="flourish-pen" pathLength="1" d={stroke} />
    </svg>
  )
}

export function Landing() {
  const words = useMessages().landing
  const { site } = readPageData('landing')
  return (
    <PageLayout title={words.title}>
      <section class="step landing">
        <h1>{words.title}</h1>
        <HeroDrawing />
        <p class="lead">{words.what}</p>
        <Ways />
        {site.demo && (
          <p class="otherwise">
            <a href="/playground">{words.playground}</a>
          </p>
        )}
      </section>
    </PageLayout>
  )
}

/**
 * Links to sign-in and registration, or to the account of a signed-in user. Their room is reserved until that is known.
 */
function Ways() {
  const words = useMessages().landing
  const [signedIn, setSignedIn] = useState<boolean>()
  useEffect(() => {
    // If the server does not respond, sign-in and registration are shown, and these pages report the error.
    fetchOwnSession().then(
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
