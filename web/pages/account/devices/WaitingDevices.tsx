import type { PendingDeviceApproval } from '@countersign/protocol/accounts/device-approvals'
import { cancelApproval } from '../../../lib/keys/unlock.ts'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { useActions, type ActionState } from '../../../components/form/use-actions.ts'
import { RouteLink } from '../../../components/frame/route.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useLocale, useMessages } from '../words.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { formatTime } from '../../../lib/text/dates.ts'
import { deviceIcon, nameOf } from './device.ts'
import { routePath } from '../sections.ts'

type Props = {
  devices: PendingDeviceApproval[]
  onApprove: (device: PendingDeviceApproval) => void
  onRefused: (device: PendingDeviceApproval) => void
}

/** Lists the user's devices that request to be unlocked, with what an approval requires. */
export function PendingDeviceApprovals({ devices, onApprove, onRefused }: Props) {
  const words = useMessages().devices
  const doing = useActions()
  if (devices.length === 0) return null
  const refuse = async (device: PendingDeviceApproval) => {
    await cancelApproval(device.approvalId)
    onRefused(device)
  }
  return (
    <Card accent flush class="waiting-devices" title={words.waitingTitle(devices.length)} about={words.onlyIf}>
      <ul class="list">
        {devices.map((device) => (
          <Entry
            key={device.approvalId}
            device={device}
            doing={doing}
            onApprove={() => onApprove(device)}
            onRefuse={() => refuse(device)}
          />
        ))}
      </ul>
      <ErrorMessage of={doing.problem} />
    </Card>
  )
}

type EntryProps = {
  device: PendingDeviceApproval
  doing: ActionState
  onApprove: () => unknown
  onRefuse: () => unknown
}

function Entry({ device, doing, onApprove, onRefuse }: EntryProps) {
  const { words, language } = useLocale()
  const { approve, approveOne, refuse, refuseOne, since } = words.devices
  const name = nameOf(device, words)
  const requested = since(formatTime(device.createdAt, language))
  const refusal = <Label shown={refuse} spoken={`${refuseOne(name)} · ${requested}`} />
  const approval = <Label shown={approve} spoken={`${approveOne(name)} · ${requested}`} />
  return (
    <li>
      <span class="glyph pen">
        <Icon name={deviceIcon(device.userAgent)} />
      </span>
      <div class="body">
        <strong>{name}</strong>
        <small>{requested}</small>
      </div>
      <div class="acts">
        <ActionButton action={{ name: 'refuse-device', label: refusal, look: 'ghost', do: onRefuse }} doing={doing} />
        <ActionButton
          action={{ name: 'approve-device', label: approval, look: 'primary', do: onApprove }}
          doing={doing}
        />
      </div>
    </li>
  )
}

/** Says more in the name of a button than it shows, because each device has such a button. */
function Label({ shown, spoken }: { shown: string; spoken: string }) {
  return (
    <>
      <span aria-hidden="true">{shown}</span>
      <span class="vh">{spoken}</span>
    </>
  )
}

/** Announces a waiting device on every other section, below the page, where it moves nothing when it appears. */
export function PendingDeviceNotice({ count, onLook }: { count: number; onLook: () => void }) {
  const words = useMessages().devices
  return (
    <div role="status" class="knock">
      {count > 0 && (
        <p>
          {words.waitingTitle(count)}.{' '}
          <RouteLink href={routePath('security')} action="look-at-devices" onFollow={onLook}>
            {words.look}
          </RouteLink>
        </p>
      )}
    </div>
  )
}
