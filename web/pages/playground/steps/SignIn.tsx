import { CodeBlock } from '../../../components/ui/Code.tsx'
import type { Action } from '../../../components/form/use-actions.ts'
import { supportsFedcm } from '../callback.ts'
import { signInCode } from '../code.ts'
import type { DemoApp } from '../Playground.tsx'
import { usePlaygroundWords } from '../words.ts'
import { Start } from './Result.tsx'
import { TokenDetails } from './TokenDetails.tsx'

/** The first step: the app learns who the user is. */
export function SignIn({ app }: { app: DemoApp }) {
  const words = usePlaygroundWords()
  const { got, view, doing } = app
  const start: Action = {
    name: 'start',
    label: got ? words.again : words.start,
    look: got ? 'secondary' : 'primary',
    icon: 'fingerprint-pattern',
    do: () => app.begin('sign-in'),
  }
  const here: Action = { name: 'start-here', label: words.startHere, look: 'secondary', do: app.beginHere }
  return (
    <>
      {got ? (
        <TokenDetails got={got} start={start} doing={doing} onRefresh={app.refresh} />
      ) : (
        <Start app={app} actions={supportsFedcm ? [start, here] : [start]} />
      )}
      {!app.isRedeeming && <CodeBlock code={signInCode(view)} label={words.code} action="copy-code" />}
    </>
  )
}
