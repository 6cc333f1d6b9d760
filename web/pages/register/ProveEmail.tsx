import { isEmail } from '@countersign/protocol/formats/email'
import { useState } from 'preact/hooks'
import { ActionForm } from '../../components/form/Actions.tsx'
import { Field } from '../../components/form/Field.tsx'
import { MailNote } from '../../components/form/MailNote.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { HaveAccount } from './AccountForm.tsx'
import type { useFlow } from './flow.ts'
import type { SentCode, Step } from './steps.ts'
import { useEmailWords } from './words.ts'

type Props = {
  step: Extract<Step, { at: 'address' | 'code' }>
  flow: Pick<ReturnType<typeof useFlow>, 'sendCode' | 'verifyCode' | 'advance'>
  returnTo: string
  doing: ActionState
}

/** Lets a new user prove an address by a mailed code, before they choose a username. */
export function ProveEmail({ step, flow, returnTo, doing }: Props) {
  if (step.at === 'code') return <CodeForm sent={step.sent} flow={flow} doing={doing} />
  return <AddressForm first={step.email ?? ''} flow={flow} returnTo={returnTo} doing={doing} />
}

function AddressForm({ first, flow, returnTo, doing }: Omit<Props, 'step'> & { first: string }) {
  const words = useEmailWords()
  const { title } = useMessages().register
  const [email, setEmail] = useState(first)
  const [checked, setChecked] = useState(false)
  // The server converts a domain in another script.
  const isComplete = isEmail(email) || (email.includes('@') && /[^ -~]/.test(email))
  const send: Action = {
    name: 'send-code',
    label: words.send,
    do: async () => {
      setChecked(true)
      if (isComplete) await flow.sendCode(email)
    },
  }
  return (
    <section class="stack loose">
      <div class="stack tight">
        <h1>{title}</h1>
        <p class="lead">{words.lead}</p>
      </div>
      <ActionForm submit={send} doing={doing}>
        <Field
          name="email"
          label={words.address}
          value={email}
          onInput={(text) => setEmail(text.trim())}
          problem={checked && !isComplete ? words.invalid : undefined}
          autocomplete="email"
          keys="email"
          takesFocus
          exact
        />
      </ActionForm>
      <HaveAccount returnTo={returnTo} doing={doing} onSignIn={undefined} />
    </section>
  )
}

function CodeForm({ sent, flow, doing }: Pick<Props, 'flow' | 'doing'> & { sent: SentCode }) {
  const words = useEmailWords()
  const [code, setCode] = useState('')
  const verify: Action = { name: 'verify-email', label: words.verify, do: () => flow.verifyCode(sent, code) }
  const back: Action = {
    name: 'other-address',
    label: words.otherAddress,
    look: 'quiet',
    do: () => flow.advance({ type: 'address changed' }),
  }
  return (
    <section class="stack loose">
      <StepHeading>{words.enterCode}</StepHeading>
      <MailNote to={sent.email} onResend={() => flow.sendCode(sent.email)} />
      <ActionForm submit={verify} others={[back]} doing={doing}>
        <Field
          name="code"
          label={words.code}
          value={code}
          onInput={setCode}
          autocomplete="one-time-code"
          keys="numeric"
          takesFocus
          exact
        />
      </ActionForm>
    </section>
  )
}
