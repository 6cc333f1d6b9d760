import { useEffect, useState } from 'preact/hooks'
import { readSiteSettings } from '../../lib/page-data.ts'
import { Icon } from '../ui/Icon.tsx'
import { ActionButton } from './Actions.tsx'
import { ErrorMessage } from './Dialog.tsx'
import { type Action, useActions } from './use-actions.ts'
import { usePageMessages } from '../frame/Root.tsx'
import { mailNoteMessages as en } from '../../locales/en/pages/dev-mail.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/dev-mail.ts')).mailNoteMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/dev-mail.ts')).mailNoteMessages)

type Props = {
  /** Address to which a code was mailed. */
  to: string
  /** Mails another code. The button rests afterwards, because the service limits mails. */
  onResend?: (() => Promise<unknown>) | undefined
}

const restSeconds = 30

/** Says where the code is: in the mailbox, or on localhost without a mail server on a page of this service. */
export function MailNote({ to, onResend }: Props) {
  const words = usePageMessages({ en, de, ar })
  const { authUrl, devMail } = readSiteSettings()
  return (
    <div class="stack">
      <p>{devMail ? words.notSent(to) : words.sent(to)}</p>
      {devMail && (
        <p class="note">
          <Icon name="mail" />
          <span>
            {words.notSetUp}{' '}
            <a href={`${authUrl}/dev/mail`} target="_blank" rel="noreferrer" data-action="open-dev-mail">
              {words.read}
            </a>
          </span>
        </p>
      )}
      {onResend && <Resend onResend={onResend} />}
    </div>
  )
}

function Resend({ onResend }: { onResend: () => Promise<unknown> }) {
  const words = usePageMessages({ en, de, ar })
  const doing = useActions()
  const [rest, setRest] = useState(restSeconds)
  const [isSent, setSent] = useState(false)
  const isResting = rest > 0
  useEffect(() => {
    if (!isResting) return undefined
    const timer = setInterval(() => setRest((seconds) => seconds - 1), 1000)
    return () => clearInterval(timer)
  }, [isResting])
  const resend: Action = {
    name: 'resend-code',
    label: isResting ? words.resendIn(rest) : words.resend,
    look: 'ghost',
    icon: 'refresh-cw',
    asleep: isResting,
    do: async () => {
      setSent(false)
      await onResend()
      setSent(true)
      setRest(restSeconds)
    },
  }
  return (
    <>
      <div role="status">{isSent && <p>{words.resent}</p>}</div>
      <ErrorMessage of={doing.problem} />
      <p>
        <ActionButton action={resend} doing={doing} />
      </p>
    </>
  )
}
