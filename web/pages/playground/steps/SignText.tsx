import { useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { Select } from '../../../components/form/Choice.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { Signature } from '../../../components/signature/Signature.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip, Note } from '../../../components/ui/Chip.tsx'
import { CodeBlock } from '../../../components/ui/Code.tsx'
import { momentOf } from '../../../lib/text/dates.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { ApiError } from '../../../lib/api/call.ts'
import { signatureCode } from '../code.ts'
import type { DemoApp } from '../Playground.tsx'
import {
  checkSignature,
  requestSignature,
  type SentRequest,
  type SignatureCheck,
  type SignatureChecks,
  type SignedAnswer,
  type SigningOutcome,
  signInWindow,
  signingUrl,
} from '../signing.ts'
import { usePlaygroundWords } from '../words.ts'
import { Checks } from './Result.tsx'
import { atHandle } from '../../../lib/text/handle.ts'

type Signed = { sent: SentRequest; answer: SignedAnswer; shown: string; checks: SignatureChecks }

/** The third step: the app asks for a signature under a text, and verifies it. */
export function SignText({ app }: { app: DemoApp }) {
  const words = usePlaygroundWords()
  const [signed, setSigned] = useState<Signed>()
  const [outcome, setOutcome] = useState<{ kind: SigningOutcome['kind']; sent: SentRequest }>()
  const { identities } = app.tour
  const [chosen, setChosen] = useState<string>()
  const identity = identities.find(({ sub }) => sub === chosen) ?? identities.at(-1)
  const payload = useState(() => words.payment(crypto.randomUUID().slice(0, 8)))[0]
  const show = async (sent: SentRequest, answer: SignedAnswer, shown: string) =>
    setSigned({ sent, answer, shown, checks: await checkSignature(sent, answer, shown) })
  const ask: Action = {
    name: 'ask-for-signature',
    label: words.ask,
    icon: 'signature',
    look: signed ? 'secondary' : 'primary',
    do: async () => {
      if (!identity) return
      setOutcome(undefined)
      const request = requestSignature(identity.sub, payload)
      const result = await signInWindow(request)
      const sent = await request
      if (result.kind !== 'signed') return setOutcome({ kind: result.kind, sent })
      await show(sent, result.answer, sent.payload)
      app.complete('signature')
    },
  }
  return (
    <>
      {identity && !signed && (
        <Question payload={payload} identities={identities} signer={identity.sub} onChoose={setChosen} ask={ask} />
      )}
      {!identity && <Note tone="wait">{words.signInFirst}</Note>}
      {outcome && outcome.kind !== 'signed' && (
        <Note tone="wait" role="status">
          {words.unsigned[outcome.kind]}{' '}
          {outcome.kind === 'blocked' && (
            <a href={signingUrl(outcome.sent)} target="_blank" rel="noopener">
              {words.openSigning}
            </a>
          )}
        </Note>
      )}
      {signed && identity && (
        <Verified signed={signed} identity={identity} onChange={(shown) => show(signed.sent, signed.answer, shown)} />
      )}
      <CodeBlock code={signatureCode(app.view, payload)} label={words.code} action="copy-code" />
    </>
  )
}

type QuestionProps = {
  payload: string
  identities: DemoApp['tour']['identities']
  /** The ID of the identity that is to sign. */
  signer: string
  onChoose: (sub: string) => void
  ask: Action
}

/** The text, who signs it, and the button that opens the signing page. */
function Question({ payload, identities, signer, onChoose, ask }: QuestionProps) {
  const words = usePlaygroundWords()
  const doing = useActions()
  return (
    <Card title={words.theRequest}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- Long lines scroll, also by keyboard. */}
      <pre class="exact-text" tabIndex={0}>
        {payload}
      </pre>
      {identities.length > 1 && (
        <Select
          name="signer"
          label={words.signAs}
          of={identities.map(({ sub, name, handle }) => ({ value: sub, label: `${name} (${atHandle(handle)})` }))}
          chosen={signer}
          onChoose={(sub) => {
            onChoose(sub)
            doing.forgive()
          }}
        />
      )}
      <Actions of={[ask]} doing={doing} />
      {lacksKey(doing.problem) && (
        <a href="/account/signing" data-action="create-signing-key">
          {words.createSigningKey}
        </a>
      )}
    </Card>
  )
}

/** Identities that were added during a sign-in have no signing key. */
function lacksKey(problem: unknown): boolean {
  return problem instanceof ApiError && problem.code === 'no_signing_key'
}

type VerifiedProps = {
  signed: Signed
  identity: DemoApp['tour']['identities'][number]
  onChange: (shown: string) => Promise<void>
}

function Verified({ signed: { sent, answer, shown, checks }, identity: { name, handle }, onChange }: VerifiedProps) {
  const words = usePlaygroundWords()
  const { language } = useLocale()
  const doing = useActions()
  const isChanged = shown !== sent.payload
  const change: Action = {
    name: 'change-letter',
    label: isChanged ? words.restoreText : words.changeLetter,
    look: 'secondary',
    icon: isChanged ? 'refresh-cw' : 'pencil',
    do: () => onChange(isChanged ? sent.payload : sent.payload.replace('12', '92')),
  }
  const results = Object.entries(checks) as [SignatureCheck, boolean][]
  return (
    <div class="grid-2 even">
      <Card
        title={words.whatYouSigned}
        actions={
          <Chip tone="ok" icon="signature">
            {words.signed}
          </Chip>
        }
      >
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- Long lines scroll, also by keyboard. */}
        <pre class={isChanged ? 'exact-text changed' : 'exact-text'} tabIndex={0}>
          {shown}
        </pre>
        <Signature
          name={name}
          isSigned
          isNow={!isChanged}
          fingerprint={answer.publicKey}
          below={
            <>
              <span>{atHandle(handle)}</span>
              <time dateTime={answer.at.toISOString()}>{momentOf(answer.at.toISOString(), language)}</time>
            </>
          }
        />
      </Card>
      <Checks
        of={results.map(([check, passed]) => ({
          key: check,
          text: words.signatureChecks[check],
          passed,
          note: passed ? words.signatureNotes[check] : words.failed,
        }))}
      >
        <Actions of={[change]} doing={doing} />
      </Checks>
    </div>
  )
}
