import { useEffect, useState } from 'preact/hooks'
import { readPageData } from '../../lib/page-data.ts'
import { Foot, Letterhead } from '../../components/frame/Letterhead.tsx'
import { useTitle } from '../../components/frame/Frame.tsx'
import { usePageMessages } from '../../components/frame/Root.tsx'
import { Signature } from '../../components/signature/Signature.tsx'
import { Avatar } from '../../components/ui/Avatar.tsx'
import { Chip } from '../../components/ui/Chip.tsx'
import { CodeBlock } from '../../components/ui/Code.tsx'
import { Facts } from '../../components/ui/Facts.tsx'
import { Icon, type IconName } from '../../components/ui/Icon.tsx'
import { landingMessages as en } from '../../locales/en/pages/landing.ts'
import { lateTexts } from '../../locales/late-texts.ts'
import { atHandle } from '../../lib/text/handle.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/landing.ts')).landingMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/landing.ts')).landingMessages)

const useWords = () => usePageMessages({ en, de, ar })

/** The start page of visitors who are not signed in: what the service is, and where it begins. */
export function Landing() {
  const words = useWords()
  const { site } = readPageData('landing')
  useTitle(words.title)
  return (
    <>
      <Letterhead
        end={
          <>
            <nav class="landing-nav" aria-label={words.guides}>
              <a href="/help">{words.guides}</a>
              {site.demo && <a href="/playground">{words.playgroundShort}</a>}
            </nav>
            <a class="button" data-action="login" href="/login">
              {words.login}
            </a>
          </>
        }
      />
      <main id="main" class="landing">
        <Hero />
        <Proofs />
        {site.developers && <Developers />}
        <section class="band">
          <div>
            <h2 class="section-title">{words.organizations.title}</h2>
            <p class="lead">{words.organizations.lead}</p>
          </div>
          <a class="button big" href={`${site.businessUrl}/organizations`}>
            {words.organizations.open}
            <Icon name="arrow-right" size="sm" class="flips" />
          </a>
        </section>
      </main>
      <Foot />
    </>
  )
}

function Hero() {
  const words = useWords()
  const { site } = readPageData('landing')
  return (
    <section class="hero">
      <div class="hero-words">
        <h1>{words.title}</h1>
        <Flourish />
        <p class="lead big">{words.lead}</p>
        <div class="row">
          <a class="button primary big" href="/register">
            {words.register}
          </a>
          {site.demo && (
            <a class="button big" href="/playground">
              <Icon name="play" size="sm" />
              {words.playground}
            </a>
          )}
        </div>
      </div>
      <Example />
    </section>
  )
}

/** One stroke of a pen that looks like a signature. */
const stroke = `
  M92 30C74 18 50 46 58 68 66 90 100 72 110 54 116 42 128 44 124 58 120 72 134 74 142 60 148 49 156 48 154 60
  152 72 160 74 168 62 176 48 178 44 178 60 178 74 188 60 196 52 200 48 204 52 202 60 200 70 208 72 216 62
  232 40 246 6 236 8 226 10 220 72 234 72 246 72 250 50 260 50 270 50 262 72 274 70 290 66 292 46 302 50
  310 54 296 74 308 72 330 68 350 46 400 40`

/** A hand-drawn signature on a line, animated once. */
function Flourish() {
  return (
    <svg class="flourish" viewBox="0 0 420 110" aria-hidden="true">
      <path class="flourish-line" d="M1 88H419" />
      <path class="flourish-cross" d="M3 66L17 80M17 66L3 80" />
      <path class="flourish-pen" pathLength="1" d={stroke} />
    </svg>
  )
}

/** A picture of a consent. Names of people and apps are not translated. */
function Example() {
  const words = useWords().example
  const isDrawn = useSignatureFont()
  return (
    <figure class={isDrawn ? 'hero-sheet drawn' : 'hero-sheet'} role="img" aria-label={words.label}>
      <div class="example" aria-hidden="true">
        <div class="app-head">
          <Avatar name="Orrery" kind="app" size="lg" />
          <div>
            <p class="soft small">{words.signInTo}</p>
            <p class="fake-h1">Orrery</p>
          </div>
        </div>
        <Facts
          isRuled
          of={[
            { label: words.name, value: 'Ada Lovelace' },
            { label: words.username, value: atHandle('ada') },
            { label: words.email, value: <span class="soft">{words.notShared}</span> },
          ]}
        />
        <Signature
          name="Ada Lovelace"
          isSigned
          isNow={isDrawn}
          fingerprint="8f3a c41d 90be 22f7"
          below={
            <>
              <span>{atHandle('ada')}</span>
              <span>orrery.example</span>
            </>
          }
        />
        <Chip tone="ok" icon="circle-check">
          {words.approved}
        </Chip>
      </div>
    </figure>
  )
}

/** Returns true once the typeface of signatures is there: the name is written only then, and does not move. */
function useSignatureFont(): boolean {
  const [isThere, setIsThere] = useState(false)
  useEffect(
    () => void document.fonts.load("italic 1rem 'Newsreader Display'").then(() => setIsThere(true), reportError),
    [],
  )
  return isThere
}

function Proofs() {
  const words = useWords().proofs
  const proofs: { icon: IconName; title: string; text: string }[] = [
    { icon: 'fingerprint-pattern', ...words.passkey },
    { icon: 'id-card', ...words.identities },
    { icon: 'signature', ...words.signatures },
  ]
  return (
    <section class="trio" aria-label={words.label}>
      {proofs.map(({ icon, title, text }) => (
        <div key={icon}>
          <span class="glyph pen">
            <Icon name={icon} />
          </span>
          <h2>{title}</h2>
          <p class="soft">{text}</p>
        </div>
      ))}
    </section>
  )
}

/** The guide “Request a signature” has the whole of it. */
const code = `const request = await countersign.createSigningRequest({
  identityId: payment.customer,
  payload: \`Pay €\${payment.amount} to \${payment.recipient}
Payment: \${payment.number}\`,
})

response.redirect(request.signingUrl)

const outcome = await countersign.waitForSignature(request)
if (outcome.status === 'signed') await pay(payment)`

function Developers() {
  const words = useWords().developers
  return (
    <section class="split">
      <div class="stack">
        <h2 class="section-title">{words.title}</h2>
        <p class="lead">{words.lead}</p>
        <ul class="permits">
          {words.points.map((point) => (
            <li key={point}>
              <Icon name="check" />
              <span>{point}</span>
            </li>
          ))}
        </ul>
        <div class="row">
          <a class="button" href="/developers">
            {words.register}
          </a>
          <a class="link" href="/help">
            {words.guides}
          </a>
        </div>
      </div>
      <CodeBlock code={code} label={words.codeName} action="copy-example" />
    </section>
  )
}
