import { useEffect, useState } from 'preact/hooks'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { Icon, type IconName } from '../../components/ui/Icon.tsx'
import { Redeem } from './Redeem.tsx'
import { Stop } from './Stop.tsx'
import { usePageWords } from './words.ts'

/** Takes the secret out of the address, so that neither the history nor an extension keeps it. */
function takeSecret(): string {
  const secret = location.hash.slice(1)
  if (secret !== '') history.replaceState(null, '', location.pathname)
  return secret
}

/** The two pages to which the mails about a recovery lead: one recovers an account, one stops that. */
export function RecoverLink() {
  const words = usePageWords()
  const [secret, setSecret] = useState(takeSecret)
  const [done, setDone] = useState<Outcome>()
  useEffect(() => {
    // Another link that is pasted into the address bar changes only the fragment, which loads no page.
    const follow = () => {
      const other = takeSecret()
      if (other === '') return
      setSecret(other)
      setDone(undefined)
    }
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  const isStop = location.pathname === '/recover/stop'
  const Part = isStop ? Stop : Redeem
  return (
    <PageLayout title={isStop ? words.stop.title : words.redeem.title} step={done ? 'done' : 'ask'} where>
      {done ? (
        <Done {...done} />
      ) : secret === '' ? (
        <section class="stack loose">
          <div class="stack tight">
            <StepHeading>{words.incomplete}</StepHeading>
            <p class="lead">{words.incompleteWhat}</p>
          </div>
        </section>
      ) : (
        <Part key={secret} secret={secret} onDone={setDone} />
      )}
    </PageLayout>
  )
}

/** What has happened, and what the user can do next. */
export type Outcome = { icon: IconName; title: string; texts: string[]; link?: { href: string; label: string } }

function Done({ icon, title, texts, link }: Outcome) {
  return (
    <section class="stack loose">
      <span class="glyph ok">
        <Icon name={icon} />
      </span>
      <div class="stack tight">
        <StepHeading>{title}</StepHeading>
        {texts.map((text) => (
          <p key={text} class="lead">
            {text}
          </p>
        ))}
      </div>
      {link && (
        <div class="actions">
          <a class="button primary" href={link.href}>
            {link.label}
          </a>
        </div>
      )}
    </section>
  )
}
