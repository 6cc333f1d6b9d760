import type { RecoveryLink } from '@countersign/protocol/accounts/recovery/links'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { useState } from 'preact/hooks'
import { Field } from '../../../../components/form/Field.tsx'
import { isolate } from '../../../../lib/text/isolate.ts'
import { Ask } from '../../acting/Ask.tsx'
import { useOperator } from '../../acting/operator.ts'
import { usePeopleMessages } from '../words.ts'

type Props = {
  identity: AdminIdentityDetails
  /** Called when it is done, with a sentence that says so. */
  onDone: (said: string) => Promise<void>
  onClose: () => void
}

/** Mails a recovery link, which the operator does not see. */
export function SendRecoveryLink({ identity: { identityId, handle, displayName }, onDone, onClose }: Props) {
  const { recover, suspend } = usePeopleMessages()
  const { ask } = useOperator()
  const [reason, setReason] = useState('')
  const [isChecked, setChecked] = useState(false)
  const isValid = isDisplayName(reason.trim(), pageLimits.recoveryReasonCharactersMax)
  const act = {
    name: 'send-recovery-link',
    label: recover.send.now,
    do: async () => {
      setChecked(true)
      if (!isValid) return
      const body = { delivery: 'mail', reason: reason.trim() } as const
      await ask('POST /api/admin/identities/:identityId/recovery-links', { params: { identityId }, body })
      onClose()
      await onDone(recover.send.done(isolate(displayName)))
    },
  }
  return (
    <Ask
      title={recover.send.title(isolate(displayName))}
      act={act}
      onClose={onClose}
      command={['people', 'recovery-link', handle, '--reason', reason.trim() || '…']}
    >
      <p>{recover.send.what}</p>
      <Field
        name="reason"
        label={suspend.reason}
        hint={recover.send.reasonHint}
        value={reason}
        onInput={setReason}
        problem={isChecked && !isValid ? suspend.reasonMissing : undefined}
      />
    </Ask>
  )
}

/** Cancels a link, or the passkey that it brought, before it is valid. */
export function CancelRecovery({ identity, link, onDone, onClose }: Props & { link: RecoveryLink }) {
  const { cancel } = usePeopleMessages().recover
  const { ask } = useOperator()
  const { identityId, handle, displayName } = identity
  const { recoveryLinkId } = link
  const act = {
    name: 'cancel-recovery',
    label: cancel.now,
    look: 'danger',
    do: async () => {
      const params = { identityId, recoveryLinkId }
      await ask('DELETE /api/admin/identities/:identityId/recovery-links/:recoveryLinkId', { params })
      onClose()
      await onDone(cancel.done(isolate(displayName)))
    },
  } as const
  return (
    <Ask
      title={cancel.title(isolate(displayName))}
      act={act}
      onClose={onClose}
      command={['people', 'cancel-recovery', handle]}
    >
      <p>{cancel.what}</p>
    </Ask>
  )
}
