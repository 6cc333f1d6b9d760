import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { normalizeHandle } from '@countersign/protocol/formats/handle'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { useState } from 'preact/hooks'
import { Select } from '../../../components/form/Choice.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { usePeopleMessages } from './words.ts'

type Props = {
  identity: AdminIdentityDetails
  /** Called when it is done, with a sentence that says so. */
  onDone: (said: string) => Promise<void>
  onClose: () => void
}

const daysOf = { day: 1, week: pageLimits.deletionRetainDays, month: pageLimits.deletionRetainDaysMax } as const
const terms = ['day', 'week', 'month'] as const satisfies (keyof typeof daysOf)[]

/**
 * Deletes an identity whose username the operator types: later, so that they can restore it, or an invited one at once.
 */
export function DeleteIdentity({ identity, onDone, onClose }: Props) {
  const { remove, suspend, invited } = usePeopleMessages()
  const { ask } = useOperator()
  const { identityId, handle, displayName } = identity
  const isInvited = identity.status === 'invited'
  const [confirm, setConfirm] = useState('')
  const [reason, setReason] = useState('')
  const [term, setTerm] = useState<keyof typeof daysOf>('week')
  const [isChecked, setChecked] = useState(false)
  const retainDays = daysOf[term]
  const isConfirmed = normalizeHandle(confirm.trim().replace(/^@/, '')) === normalizeHandle(handle)
  const isExplained = isDisplayName(reason.trim(), pageLimits.suspensionReasonCharactersMax)
  const act = {
    name: 'delete-identity',
    label: remove.now,
    look: 'danger',
    do: async () => {
      setChecked(true)
      if (!isConfirmed || !isExplained) return
      const body = { confirm: handle, reason: reason.trim(), ...(!isInvited && { retainDays }) }
      await ask('DELETE /api/admin/identities/:identityId', { params: { identityId }, body })
      onClose()
      await onDone((isInvited ? invited : remove).done(isolate(displayName)))
    },
  } as const
  const days = isInvited || term === 'week' ? [] : ['--retain-days', String(retainDays)]
  return (
    <Ask
      title={remove.title(isolate(displayName))}
      act={act}
      onClose={onClose}
      command={['people', 'delete', handle, '--confirm', handle, '--reason', reason.trim() || '…', ...days]}
    >
      <p>{isInvited ? invited.lost : remove.lost}</p>
      <Field
        name="reason"
        label={suspend.reason}
        {...(!isInvited && { hint: suspend.reasonHint })}
        value={reason}
        onInput={setReason}
        problem={isChecked && !isExplained ? suspend.reasonMissing : undefined}
      />
      {!isInvited && (
        <Select
          name="retain-days"
          label={remove.when}
          of={terms.map((value) => ({ value, label: suspend.terms[value] }))}
          chosen={term}
          onChoose={setTerm}
        />
      )}
      <Field
        name="confirm"
        label={remove.confirm(isolate(`@${handle}`))}
        value={confirm}
        onInput={setConfirm}
        problem={isChecked && !isConfirmed ? remove.confirmWrong : undefined}
        autocomplete="off"
        prefix="@"
        exact
      />
    </Ask>
  )
}

/** Undoes the scheduled deletion of an identity. */
export function RestoreIdentity({ identity: { identityId, handle, displayName }, onDone, onClose }: Props) {
  const { restore } = usePeopleMessages()
  const { ask } = useOperator()
  const act = {
    name: 'restore-identity',
    label: restore.now,
    do: async () => {
      await ask('POST /api/admin/identities/:identityId/restore', { params: { identityId } })
      onClose()
      await onDone(restore.done(isolate(displayName)))
    },
  }
  return (
    <Ask
      title={restore.title(isolate(displayName))}
      act={act}
      onClose={onClose}
      command={['people', 'restore', handle]}
    >
      <p>{restore.what}</p>
    </Ask>
  )
}
