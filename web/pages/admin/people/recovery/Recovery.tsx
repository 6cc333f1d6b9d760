import type { RecoveryLink } from '@countersign/protocol/accounts/recovery/links'
import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { useLocale } from '../../../../components/frame/Root.tsx'
import { Icon } from '../../../../components/ui/Icon.tsx'
import { formatMoment } from '../../../../lib/text/dates.ts'
import { useOperator } from '../../acting/operator.ts'
import { Reading } from '../../reading/Reading.tsx'
import { type Read, useReading } from '../../reading/use-reading.ts'
import { usePeopleMessages } from '../words.ts'
import { CancelRecovery, SendRecoveryLink } from './RecoveryDialogs.tsx'

type Props = {
  identity: AdminIdentityDetails
  /** Called when something is done, with a sentence that says so. */
  onDone: (said: string) => Promise<void>
  /** Stands below, as soon as it is known how much room the recovery takes. */
  children: ComponentChildren
}

/** Says how far the recovery of an identity is, and offers to mail a link or to cancel it. */
export function Recovery({ identity, onDone, children }: Props) {
  const [open, setOpen] = useState<'send' | 'cancel'>()
  const latest = useLatestLink(identity)
  const done = async (said: string) => {
    latest.again()
    await onDone(said)
  }
  const dialog = { identity, onDone: done, onClose: () => setOpen(undefined) }
  return (
    <>
      <Reading of={latest} rows={1}>
        {({ link }) => (
          <>
            <Row link={link} onAsk={setOpen} />
            {open === 'send' && <SendRecoveryLink {...dialog} />}
            {open === 'cancel' && link && <CancelRecovery {...dialog} link={link} />}
          </>
        )}
      </Reading>
      {(latest.value !== undefined || latest.problem !== undefined) && children}
    </>
  )
}

/** Reads the latest link. What is known of it stays until it is read again, because what stands below would move. */
function useLatestLink({ identityId, status }: AdminIdentityDetails): Read<{ link: RecoveryLink | undefined }> {
  const { ask } = useOperator()
  const read = async () =>
    (await ask('GET /api/admin/identities/:identityId/recovery-links', { params: { identityId } })).recoveryLinks[0]
  // The state changes with what the user does, which the status tells.
  const latest = useReading(async () => ({ link: await read() }), [status])
  const known = useRef(latest.value)
  known.current = latest.value ?? known.current
  return { ...latest, value: known.current }
}

type RowProps = { link: RecoveryLink | undefined; onAsk: (what: 'send' | 'cancel') => void }

function Row({ link, onAsk }: RowProps) {
  const { recover: words } = usePeopleMessages()
  const { language } = useLocale()
  const moment = (instant: string | null) => (instant === null ? '' : formatMoment(instant, language, new Date()))
  const row = (title: string, about: string, button: 'send' | 'cancel' | undefined) => (
    <div class="danger-row">
      <div>
        <strong>{title}</strong>
        <p class="small soft">{about}</p>
      </div>
      {button && (
        <button type="button" class="button" data-action={`ask-${button}-recovery`} onClick={() => onAsk(button)}>
          <Icon name={button === 'send' ? 'mail' : 'x'} size="sm" />
          {words[button].open}
        </button>
      )}
    </div>
  )
  if (link?.state === 'issued') return row(words.issued, words.validUntil(moment(link.expiresAt)), 'cancel')
  if (link?.state === 'redeemed') return row(words.redeemed, words.validFrom(moment(link.completesAt)), 'cancel')
  if (link?.state === 'completed') return row(words.completed, words.undoneUntil(moment(link.holdUntil)), undefined)
  return row(words.row, words.what, 'send')
}
