import { isEmail } from '@countersign/protocol/formats/email'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { explainedBy } from '../../../lib/api/explained.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { MailNote } from '../../../components/form/MailNote.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { useMessages } from '../words.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'

type Props = { identity: Identity; onChanged: (identity: Identity) => void; onClose: () => void }

/** Adds an e-mail address to an identity: asks for it, then verifies it by the mailed code. */
export function Email({ identity, onChanged, onClose }: Props) {
  const words = useMessages()
  const [sentTo, setSentTo] = useState<string>()
  return (
    <Dialog title={words.email.title(identity.handle)} onClose={onClose}>
      {sentTo === undefined ? (
        <AddressForm identity={identity} onSent={setSentTo} onChanged={onChanged} onClose={onClose} />
      ) : (
        <CodeForm identity={identity} sentTo={sentTo} onBack={() => setSentTo(undefined)} onChanged={onChanged} />
      )}
    </Dialog>
  )
}

function AddressForm({ identity, onSent, onChanged, onClose }: Props & { onSent: (email: string) => void }) {
  const words = useMessages()
  const doing = useActions()
  const params = { identityId: identity.identityId }
  const [email, setEmail] = useState('')
  const [checked, setChecked] = useState(false)
  const explain = explainedBy({ email_domain_required: words.email.domainRequired })
  const send: Action = {
    name: 'send-code',
    label: words.email.send,
    do: async () => {
      setChecked(true)
      if (!isEmail(email)) return
      const sendCode = () => call('POST /api/identities/:identityId/email', { params, body: { email } })
      onSent((await withRecentAuthentication(sendCode).catch(explain)).email)
    },
  }
  const remove: Action = {
    name: 'remove-email',
    label: words.email.remove,
    look: 'secondary',
    do: async () => {
      const removeAddress = () => call('DELETE /api/identities/:identityId/email', { params })
      onChanged(await withRecentAuthentication(removeAddress).catch(explain))
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  const others = identity.email === null ? [cancel] : [remove, cancel]
  const now = identity.email !== null && <p>{words.email.now(identity.email)}</p>
  if (!readSiteSettings().mail)
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

function CodeForm({ identity: { identityId }, sentTo, onBack, onChanged }: CodeProps) {
  const words = useMessages()
  const doing = useActions()
  const [code, setCode] = useState('')
  const verify: Action = {
    name: 'verify-email',
    label: words.email.verify,
    do: async () => {
      const params = { identityId }
      const verified = call('POST /api/identities/:identityId/email/verify', { params, body: { code } })
      onChanged(await verified.catch(explainedBy({ email_domain_required: words.email.domainRequired })))
    },
  }
  const resend = () =>
    withRecentAuthentication(() =>
      call('POST /api/identities/:identityId/email', { params: { identityId }, body: { email: sentTo } }),
    )
  const back: Action = { name: 'back', label: words.email.otherAddress, look: 'quiet', do: onBack }
  return (
    <>
      <MailNote to={sentTo} onResend={resend} />
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
