import { isEmail } from '@countersign/protocol/formats/email'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/call.ts'
import { withFreshProof } from '../../../lib/passkey.ts'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Field } from '../../../components/form/Field.tsx'
import { useWords } from '../../../components/frame/Root.tsx'
import { readSite } from '../../../lib/view.ts'

type Props = { identity: Identity; onChanged: (identity: Identity) => void; onClose: () => void }

/** The address of a name: asked for, then proved by the code that is mailed to it. */
export function Email({ identity, onChanged, onClose }: Props) {
  const words = useWords()
  const [sentTo, setSentTo] = useState<string>()
  return (
    <Dialog title={words.email.title(identity.handle)} onClose={onClose}>
      {sentTo === undefined ? (
        <AskAddress identity={identity} onSent={setSentTo} onChanged={onChanged} onClose={onClose} />
      ) : (
        <AskCode identity={identity} sentTo={sentTo} onBack={() => setSentTo(undefined)} onChanged={onChanged} />
      )}
    </Dialog>
  )
}

function AskAddress({ identity, onSent, onChanged, onClose }: Props & { onSent: (email: string) => void }) {
  const words = useWords()
  const doing = useDoing()
  const params = { identityId: identity.identityId }
  const [email, setEmail] = useState('')
  const [checked, setChecked] = useState(false)
  const send: Action = {
    name: 'send-code',
    label: words.email.send,
    do: async () => {
      setChecked(true)
      if (!isEmail(email)) return
      const ask = () => call('POST /api/identities/:identityId/email', { params, body: { email } })
      onSent((await withFreshProof(ask)).email)
    },
  }
  const remove: Action = {
    name: 'remove-email',
    label: words.email.remove,
    look: 'secondary',
    do: async () => onChanged(await withFreshProof(() => call('DELETE /api/identities/:identityId/email', { params }))),
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  const others = identity.email === null ? [cancel] : [remove, cancel]
  const now = identity.email !== null && <p>{words.email.now(identity.email)}</p>
  if (!readSite().mail)
    return (
      <>
        {now}
        <p>{words.email.notSetUp}</p>
        <Actions of={others} doing={doing} />
      </>
    )
  return (
    <>
      {now}
      <ActionForm submit={send} others={others} doing={doing}>
        <Field
          name="email"
          label={identity.email === null ? words.email.address : words.email.newAddress}
          value={email}
          onInput={(text) => setEmail(text.trim())}
          problem={checked && !isEmail(email) ? words.email.invalid : undefined}
          autocomplete="email"
          keys="email"
          takesFocus
          exact
        />
      </ActionForm>
    </>
  )
}

type CodeProps = Pick<Props, 'identity' | 'onChanged'> & { sentTo: string; onBack: () => void }

function AskCode({ identity: { identityId }, sentTo, onBack, onChanged }: CodeProps) {
  const words = useWords()
  const doing = useDoing()
  const [code, setCode] = useState('')
  const verify: Action = {
    name: 'verify-email',
    label: words.email.verify,
    do: async () =>
      onChanged(
        await call('POST /api/identities/:identityId/email/verify', { params: { identityId }, body: { code } }),
      ),
  }
  const back: Action = { name: 'back', label: words.email.otherAddress, look: 'quiet', do: onBack }
  return (
    <>
      <p>{words.email.sent(sentTo)}</p>
      <ActionForm submit={verify} others={[back]} doing={doing}>
        <Field
          name="code"
          label={words.email.code}
          value={code}
          onInput={setCode}
          autocomplete="one-time-code"
          keys="numeric"
          takesFocus
          exact
        />
      </ActionForm>
    </>
  )
}
