import { Card } from '../../../components/ui/Card.tsx'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Note } from '../../../components/ui/Chip.tsx'
import { CodeBlock } from '../../../components/ui/Code.tsx'
import type { Action } from '../../../components/form/use-actions.ts'
import { identityCode } from '../code.ts'
import type { DemoApp } from '../Playground.tsx'
import { usePlaygroundWords } from '../words.ts'
import { Start } from './Result.tsx'
import { atHandle } from '../../../lib/text/handle.ts'

/** The second step: another identity of the same user is another person to the app. */
export function Identity({ app }: { app: DemoApp }) {
  const words = usePlaygroundWords()
  const { identities } = app.tour
  const choose: Action = {
    name: 'choose-another',
    label: words.chooseAnother,
    look: identities.length > 1 ? 'secondary' : 'primary',
    icon: 'id-card',
    do: () => app.begin('identity', { prompt: 'select_account' }),
  }
  return (
    <>
      <Card title={words.whatTheAppKnows} flush>
        <ul class="list">
          {identities.length === 0 && <li class="nobody">{words.nobodyYet}</li>}
          {identities.map(({ sub, name, handle }) => (
            <li key={sub}>
              <Avatar name={name} toneOf={sub} />
              <div class="body">
                <Person name={name} detail={atHandle(handle)} />
                <code class="sub">{sub}</code>
              </div>
            </li>
          ))}
        </ul>
      </Card>
      {identities.length > 1 && <Note tone="ok">{words.unlinkable}</Note>}
      {identities.length === 1 && <Note>{words.needsAnother}</Note>}
      <Start app={app} actions={[choose]} />
      {!app.isRedeeming && <CodeBlock code={identityCode} label={words.code} action="copy-code" />}
    </>
  )
}
