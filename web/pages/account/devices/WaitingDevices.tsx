import type { WaitingDevice } from '@countersign/protocol/accounts/device-approvals'
import { withdrawApproval } from '../../../lib/device-approval.ts'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { useDoing, type Doing } from '../../../components/form/doing.ts'
import { InPageLink } from '../../../components/frame/InPageLink.tsx'
import { Problem } from '../../../components/form/Problem.tsx'
import { useSpeech, useWords } from '../../../components/frame/Root.tsx'
import { nameOf } from './device-name.ts'
import { pathOf } from '../sections.ts'

type Props = {
  devices: WaitingDevice[]
  onApprove: (device: WaitingDevice) => void
  onRefused: (device: WaitingDevice) => void
}

/** The person's devices that ask to be unlocked, and what it takes to say yes. */
export function WaitingDevices({ devices, onApprove, onRefused }: Props) {
  const words = useWords().devices
  const doing = useDoing()
  if (devices.length === 0) return null
  const refuse = async (device: WaitingDevice) => {
    await withdrawApproval(device.approvalId)
    onRefused(device)
  }
  return (
    <section class="step waiting-devices">
      <h2>{words.waitingTitle(devices.length)}</h2>
      <p>{words.onlyIf}</p>
      <ul class="entries">
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
      <Problem of={doing.problem} />
    </section>
  )
}

type EntryProps = { device: WaitingDevice; doing: Doing; onApprove: () => unknown; onRefuse: () => unknown }

function Entry({ device, doing, onApprove, onRefuse }: EntryProps) {
  const { words, language } = useSpeech()
  const { approve, approveOne, refuse, refuseOne, since } = words.devices
  const name = nameOf(device, words)
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'short' }).format(new Date(device.createdAt))
  return (
    <li class="entry">
      <div>
        <h3>{name}</h3>
        <p>{since(time)}</p>
      </div>
      <div class="choices">
        <ActionButton
          action={{ name: 'approve-device', label: approveOne(name), look: 'quiet', do: onApprove }}
          doing={doing}
        >
          {approve}
        </ActionButton>
        <ActionButton
          action={{ name: 'refuse-device', label: refuseOne(name), look: 'quiet', do: onRefuse }}
          doing={doing}
        >
          {refuse}
        </ActionButton>
      </div>
    </li>
  )
}

/** Says on every other section that a device asks; below the page, where it moves nothing when it comes. */
export function Knock({ count, onLook }: { count: number; onLook: () => void }) {
  const words = useWords().devices
  return (
    <div role="status" class="knock">
      {count > 0 && (
        <p>
          {words.waitingTitle(count)}.{' '}
          <InPageLink href={pathOf('sessions')} action="look-at-devices" onFollow={onLook}>
            {words.look}
          </InPageLink>
        </p>
      )}
    </div>
  )
}
