import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { useEffect, useState } from 'preact/hooks'
import { Loading } from '../../components/signature/Loading.tsx'
import { Actions } from '../../components/form/Actions.tsx'
import { type Action, type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { Empty } from '../../components/ui/Card.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { loadHand } from '../../components/signature/hand.ts'
import { showUser } from '../../components/frame/shown-user.ts'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { ApiError, call, callText } from '../../lib/api/call.ts'
import { downloadFile, saveReceipt } from '../../lib/download.ts'
import { fetchOwnSession, isSignInRequired, type Session } from '../../lib/session/session.ts'
import { Certificate } from './Certificate.tsx'
import type { Verification } from './verification.ts'
import { useReceiptMessages } from './words.ts'

type Shown = { request: SigningRequest; receipt: string; verification: Verification; names: Map<string, string> }
type Step = { at: 'look' } | { at: 'sign in' } | { at: 'none' } | ({ at: 'receipt' } & Shown)

/** Shows the receipt of a signature to one of its signers, verified in this browser. */
export function ReceiptPage() {
  const texts = useReceiptMessages()
  const doing = useActions()
  const [step, setStep] = useState<Step>({ at: 'look' })
  const look = async () => {
    const session = await fetchOwnSession()
    showUser(session?.user)
    setStep(session ? await read(session) : { at: 'sign in' })
  }
  useEffect(() => void doing.perform({ name: 'look', do: look }), [])
  return (
    <PageLayout title={texts.title} step={step.at} wide={step.at === 'receipt'}>
      <CurrentStep step={step} doing={doing} look={look} />
    </PageLayout>
  )
}

type Props = { step: Step; doing: ActionState; look: () => Promise<void> }

function CurrentStep({ step, doing, look }: Props) {
  const texts = useReceiptMessages()
  const retry: Action = { name: 'retry', label: texts.retry, look: 'secondary', do: look }
  switch (step.at) {
    case 'look':
      return doing.problem === undefined ? <Loading /> : <Actions of={[retry]} doing={doing} />
    case 'sign in':
      return (
        <section class="step">
          <StepHeading>{texts.signIn}</StepHeading>
          <p>{texts.signInWhy}</p>
          <Authenticate doing={doing} onSignedIn={look} />
        </section>
      )
    case 'none':
      return (
        <section class="step">
          <Empty icon="file-check" title={texts.none} level={2}>
            <p>{texts.noneWhy}</p>
            <Back />
          </Empty>
        </section>
      )
    case 'receipt':
      return <Found shown={step} doing={doing} />
  }
}

function Found({ shown: { request, receipt, verification, names }, doing }: { shown: Shown; doing: ActionState }) {
  const texts = useReceiptMessages()
  const { requestId, payload } = request
  const actions: Action[] = [
    { name: 'print', label: texts.print, icon: 'printer', do: () => print() },
    {
      name: 'save-receipt',
      label: texts.save,
      icon: 'download',
      look: 'secondary',
      do: () => saveReceipt(requestId, receipt),
    },
    {
      name: 'save-text',
      label: texts.saveText,
      icon: 'file-text',
      look: 'secondary',
      do: () => downloadFile(payload, 'text/plain', `text-${requestId}.txt`),
    },
  ]
  return (
    <Certificate verification={verification} payload={payload} names={names}>
      <div class="off-paper">
        <Actions of={actions} doing={doing} />
        <Back />
      </div>
    </Certificate>
  )
}

function Back() {
  const texts = useReceiptMessages()
  return (
    <p>
      <a class="link" href="/account/signing" data-action="back">
        <Icon name="arrow-left" size="sm" class="flips" />
        {texts.back}
      </a>
    </p>
  )
}

const loadVerification = () => import('./verification.ts')

/** Reads the receipt of the address, and verifies it. Another user's request looks like none. */
async function read({ identities }: Session): Promise<Step> {
  const requestId = location.pathname.split('/').at(-1) ?? ''
  const params = { requestId }
  try {
    const [request, receipt, { verifyHere }] = await Promise.all([
      call('GET /api/signing/requests/:requestId', { params }),
      callText('GET /api/signing/requests/:requestId/receipt', { params }),
      loadVerification(),
      loadHand(),
    ])
    const verification = await verifyHere(receipt, request.payload)
    const names = new Map(identities.map(({ identityId, displayName }) => [identityId, displayName]))
    return { at: 'receipt', request, receipt, verification, names }
  } catch (error) {
    if (isSignInRequired(error)) return { at: 'sign in' }
    if (error instanceof ApiError && absent.includes(error.code)) return { at: 'none' }
    throw error
  }
}

const absent = ['request_not_found', 'request_not_signed', 'insufficient_scope', 'invalid_request']
