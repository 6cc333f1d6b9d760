import { useMessages } from '../frame/Root.tsx'
import type { MasterKey } from '@countersign/keys/master-key'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { useEffect, useState } from 'preact/hooks'
import { parseDigits } from '../../lib/text/dates.ts'
import { ActionForm, Actions } from '../form/Actions.tsx'
import { type DeviceRequestState, useDeviceRequest } from './use-device-request.ts'
import { type Action, useActions } from '../form/use-actions.ts'
import { Field } from '../form/Field.tsx'
import { StepHeading } from '../frame/Frame.tsx'
import type { QrCode } from '../ui/Code.tsx'
import './unlock.css'

/** Shows digits that the user types on their other device. */
export function DeviceCode({ digits }: { digits: string }) {
  const groups = digits.match(/.{1,3}/g) ?? []
  return (
    <figure class="code digits" aria-label={useMessages().devices.code}>
      <output name="deviceCode">{groups.join(' ')}</output>
    </figure>
  )
}

type Props = {
  userId: string
  level: 1 | 2
  onOpened: (masterKey: MasterKey) => unknown
  onTurnBack: () => void
}

/** Unlocks the keys with the help of another device that is signed in and whose passkey unlocks them. */
export function RequestDeviceUnlock({ userId, level, onOpened, onTurnBack }: Props) {
  const words = useMessages().devices
  const { request, doing, send } = useDeviceRequest(userId, onOpened)
  const over = request.at === 'end' || doing.problem !== undefined
  const again: Action[] = over ? [{ ...send, label: words.again }] : []
  // Independent of the running action, which it cancels.
  const leaving = useActions()
  const turnBack: Action = { name: 'use-code', label: words.useCode, look: 'quiet', do: onTurnBack }
  return (
    <section class="step">
      <StepHeading level={level}>{words.askTitle}</StepHeading>
      <Where />
      <div class="asking">
        <div role="status">{doing.problem === undefined && <Standing of={request} />}</div>
        {request.at === 'confirmation' && doing.problem === undefined && <Confirm request={request} />}
        <Actions of={again} doing={doing} />
      </div>
      <Actions of={[turnBack]} doing={leaving} />
    </section>
  )
}

/** Names the page where the other device approves the request, and shows its address as a QR code. */
function Where() {
  const words = useMessages().devices
  const [Qr, setQr] = useState<typeof QrCode>()
  useEffect(() => {
    // Most users never see it, so the pages do not include the encoder.
    import('../ui/Code.tsx').then(({ QrCode: loaded }) => setQr(() => loaded), reportError)
  }, [])
  const url = `${location.origin}/account/security`
  return (
    <div class="qr-row">
      <div class="qr-room">{Qr && <Qr text={url} label={words.qr(url)} />}</div>
      <div class="stack tight">
        <p>{words.askWhere(`${location.host}/account`)}</p>
        <p class="soft small">{words.askWhat}</p>
      </div>
    </div>
  )
}

function Standing({ of: request }: { of: DeviceRequestState }) {
  const words = useMessages().devices
  switch (request.at) {
    case 'answer':
      return <p class="hint">{words.waiting}</p>
    case 'digits':
      return (
        <>
          <p>{words.typeThere}</p>
          <DeviceCode digits={request.digits} />
        </>
      )
    case 'confirmation':
      return null
    case 'end':
      return <p class="problem">{words.askEnds[request.end]}</p>
  }
}

function Confirm({ request }: { request: Extract<DeviceRequestState, { at: 'confirmation' }> }) {
  const words = useMessages().devices
  const doing = useActions()
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string>()
  const [triesLeft, setTriesLeft] = useState<number>(pageLimits.deviceApprovalTriesMax)
  const unlock: Action = {
    name: 'unlock',
    label: words.unlockThis,
    do: () => {
      const digits = parseDigits(typed, pageLimits.deviceConfirmationDigits)
      if (digits === undefined) return setProblem(words.malformedConfirmation)
      if (digits === request.expected) return request.confirm()
      if (triesLeft === 1) return request.giveUp()
      setTriesLeft(triesLeft - 1)
      setProblem(words.wrong(triesLeft - 1))
    },
  }
  const write = (text: string) => {
    setTyped(text)
    setProblem(undefined)
  }
  return (
    <ActionForm submit={unlock} doing={doing}>
      <Field
        name="confirmation"
        label={words.typedConfirmation}
        value={typed}
        onInput={write}
        problem={problem}
        keys="numeric"
        exact
        takesFocus
      />
    </ActionForm>
  )
}
