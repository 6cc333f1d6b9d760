import type { PendingRequest } from '@countersign/protocol/signing/pending-signing'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { useEffect, useState } from 'preact/hooks'
import { ExactText } from '../../../components/display/ExactText.tsx'
import { useFingerprint } from '../../../components/display/fingerprint.ts'
import { sealText } from '../../../components/display/seal-text.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { usePageMessages } from '../../../components/frame/Root.tsx'
import { useLocale } from '../../../components/signature/sign-words.ts'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Disclosure } from '../../../components/ui/Disclosure.tsx'
import { Facts } from '../../../components/ui/Facts.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { Seal, Signature } from '../../../components/signature/Signature.tsx'
import { call } from '../../../lib/api/call.ts'
import { reportUnexpected } from '../../../lib/api/error-message.ts'
import { downloadReceipt } from '../../../lib/download.ts'
import { momentOf } from '../../../lib/text/dates.ts'
import { timeLeftUntil } from '../../../lib/text/time-left.ts'
import { receiptMessages as en } from '../../../locales/en/pages/receipts.ts'
import type { Owner } from '../flow.ts'
import { addressOfApp } from './app-address.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../../locales/de/pages/receipts.ts')).receiptMessages)
const ar = lateTexts('ar', async () => (await import('../../../locales/ar/pages/receipts.ts')).receiptMessages)

type Props = {
  request: SigningRequest
  owner: Owner
  doing: ActionState
  /** The signature was given in this window just now, and is drawn. */
  isNow: boolean
  /** Keeps a window that would close by itself open, or lets it close. */
  onHold: (isPaused: boolean) => void
}

/** Shows what was signed: the name on the line in ink, the text, and what comes next. */
export function Signed({ request, owner, doing, isNow, onHold }: Props) {
  const { words, language } = useLocale()
  const texts = usePageMessages({ en, de, ar })
  const { app, handle, identityId, organization, publicKey, resolvedAt, createdAt } = request
  const fingerprint = useFingerprint(publicKey)
  const displayName = owner.identities.find((each) => each.identityId === identityId)?.displayName
  const time = momentOf(resolvedAt ?? createdAt, language)
  return (
    <section
      class="certificate ended signed"
      onPointerMove={() => onHold(true)}
      onPointerLeave={() => onHold(false)}
      onFocusIn={({ target }) => onHold(!(target instanceof HTMLHeadingElement))}
      onFocusOut={() => onHold(false)}
    >
      <div class="certificate-head">
        <StepHeading>{words.sign.ends.signed}</StepHeading>
        <p class="lead">
          {organization ? texts.organizationSigned(app.name, organization.name) : texts.appHas(app.name)}
        </p>
      </div>
      <div class={isNow ? 'certificate-sign signed now' : 'certificate-sign signed'}>
        <Signature
          name={organization?.name ?? displayName ?? handle}
          below={
            <>
              <span>{texts.forApp(atHandle(handle), app.name)}</span>
              <time dateTime={resolvedAt}>{time}</time>
            </>
          }
          isSigned
          isNow={isNow}
          fingerprint={fingerprint ?? ''}
        />
        {fingerprint !== undefined && <Seal fingerprint={fingerprint} text={sealText(time, fingerprint)} />}
      </div>
      <What request={request} fingerprint={fingerprint} />
      <Onward request={request} doing={doing} />
    </section>
  )
}

function What({
  request: { payload, requestId },
  fingerprint,
}: {
  request: SigningRequest
  fingerprint?: string | undefined
}) {
  const texts = usePageMessages({ en, de, ar })
  const [isOpen, setIsOpen] = useState(true)
  return (
    <Disclosure summary={texts.whatSigned} icon="file-text" open={isOpen} onToggle={setIsOpen}>
      <ExactText text={payload} label={texts.text} />
      <Facts
        of={[
          { label: texts.facts.key, value: <code>{fingerprint ?? '…'}</code> },
          { label: texts.facts.request, value: <code>{requestId}</code> },
        ]}
      />
    </Disclosure>
  )
}

/** What comes next: the next request that waits, the app, the receipt. */
function Onward({ request, doing }: Pick<Props, 'request' | 'doing'>) {
  const texts = usePageMessages({ en, de, ar })
  const { requestId, app } = request
  const waiting = useWaiting()
  const back = opener === null ? addressOfApp(app, document.referrer) : undefined
  const save: Action = {
    name: 'save-receipt',
    label: texts.save,
    icon: 'download',
    look: 'secondary',
    do: () => downloadReceipt(requestId),
  }
  return (
    <>
      <div class="cluster onward">
        {back !== undefined && (
          <a class="button primary big" href={back} data-action="back-to-app">
            {texts.backTo(app.name)}
            <Icon name="arrow-right" size="sm" class="flips" />
          </a>
        )}
        <Actions of={[save]} doing={doing} />
        <a class="button secondary" href={`/account/signing/receipts/${requestId}`} data-action="show-receipt">
          <Icon name="file-check" size="sm" />
          {texts.show}
        </a>
      </div>
      {waiting && waiting.count > 0 && waiting.first && <Next request={waiting.first} count={waiting.count} />}
      <p class="below-sheet small">
        {texts.kept} <a href="/account/signing">{texts.keptLink}</a>.
      </p>
    </>
  )
}

function Next({ request, count }: { request: PendingRequest; count: number }) {
  const texts = usePageMessages({ en, de, ar })
  const { language } = useLocale()
  const { requestId, app, expiresAt, organization, handle } = request
  return (
    <a class="next-request" href={`/sign?requestId=${requestId}`} data-action="next-request">
      <Person
        avatar={<Avatar kind="app" name={app.name} toneOf={app.clientId} />}
        name={texts.next(count)}
        detail={[
          app.name,
          organization?.name ?? atHandle(handle),
          texts.left(timeLeftUntil(expiresAt, language, new Date())),
        ].join(' · ')}
      />
      <Icon name="arrow-right" class="flips" />
    </a>
  )
}

/** Reads what else waits. It is an offer: without an answer the page is complete. */
function useWaiting(): { count: number; first: PendingRequest | undefined } | undefined {
  const [waiting, setWaiting] = useState<{ count: number; first: PendingRequest | undefined }>()
  useEffect(() => {
    if (opener !== null) return
    call('GET /api/signing/pending', { querystring: { limit: '1' } }).then(
      ({ count, requests: [first] }) => setWaiting({ count, first }),
      reportUnexpected,
    )
  }, [])
  return waiting
}
