import type { PendingDeviceApproval } from '@countersign/protocol/accounts/device-approvals'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import { useActions } from '../../../components/form/use-actions.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { useMessages } from '../words.ts'
import type { SectionProps } from '../account-data.ts'
import { Sessions } from '../devices/Sessions.tsx'
import { UnlockDevice } from '../devices/UnlockDevice.tsx'
import { useDeviceApproval } from '../devices/unlocking-flow.ts'
import { PendingDeviceApprovals } from '../devices/WaitingDevices.tsx'
import { AddPasskey } from '../passkeys/AddPasskey.tsx'
import { AddPhone } from '../passkeys/AddPhone.tsx'
import { useAddPasskey } from '../passkeys/addition-flow.ts'
import { Passkeys } from '../passkeys/Passkeys.tsx'
import { useReplaceRecoveryCode } from '../passkeys/renewal-flow.ts'
import { RecoveryCodeCard, ReplaceRecoveryCode } from '../passkeys/ReplaceRecoveryCode.tsx'
import { useAccountWords } from '../words.ts'
import { KeyReset, LockedKeys } from './KeyReset.tsx'
import { useKeyReset } from './key-reset-flow.ts'
import { resettingPasskey } from './resetting-passkey.ts'

/** How the user signs in, where they are signed in, and how they get back in. A task in progress takes its place. */
export function Security({ data, onChange }: SectionProps) {
  const { security: words, keyReset } = useAccountWords()
  const { added } = useMessages().passkeys
  const doing = useActions()
  const renewing = useActions()
  const { passkeys, session } = data
  const { userId } = session.user
  const updatePasskeys = (updated: Passkey[], sessions = data.sessions) =>
    onChange((current) => ({ ...current, sessions, passkeys: updated }))
  const addition = useAddPasskey(userId, (passkey) => {
    updatePasskeys([...passkeys, passkey])
    toast(added(passkey.name))
  })
  const renewal = useReplaceRecoveryCode(data, onChange)
  const reset = useKeyReset(data, onChange, () => toast(keyReset.done))
  const unlocking = useDeviceApproval(userId)
  const forget = (device: PendingDeviceApproval) =>
    onChange((current) => ({
      ...current,
      devices: current.devices.filter(({ approvalId }) => approvalId !== device.approvalId),
    }))
  const approve = (device: PendingDeviceApproval) => {
    unlocking.approve(device)
    forget(device)
  }

  if (unlocking.step.at !== 'rest')
    return (
      <section class="card">
        <UnlockDevice unlocking={unlocking} step={unlocking.step} />
      </section>
    )
  if (addition.step.at !== 'rest')
    return (
      <section class="card">
        <AddPasskey addition={addition} userId={userId} doing={doing} />
      </section>
    )
  if (renewal.step.at !== 'rest')
    return (
      <section class="card">
        <ReplaceRecoveryCode data={data} renewal={renewal} step={renewal.step} />
      </section>
    )
  if (reset.step.at !== 'rest')
    return (
      <section class="card">
        <KeyReset data={data} reset={reset} step={reset.step} />
      </section>
    )
  return (
    <>
      <PageHead title={words.title} lead={words.lead} />
      <PendingDeviceApprovals devices={data.devices} onApprove={approve} onRefused={forget} />
      {resettingPasskey(passkeys) && <LockedKeys reset={reset} doing={renewing} onUnlock={renewal.openWithPasskey} />}
      <Passkeys data={data} doing={doing} onAdd={addition.begin} onChanged={updatePasskeys} />
      <div class="grid-2 even">
        <AddPhone passkeyCount={passkeys.length} doing={doing} onAdd={addition.begin} />
        <RecoveryCodeCard data={data} renewal={renewal} isRenewed={renewal.step.renewed} />
      </div>
      <Sessions data={data} onChange={onChange} />
    </>
  )
}
