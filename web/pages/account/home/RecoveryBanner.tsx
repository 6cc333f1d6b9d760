import type { OwnRecoveryLink } from '@countersign/protocol/accounts/recovery/links'
import { ApiError, call } from '../../../lib/api/call.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import { formatMomentInSentence } from '../../../lib/text/dates.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { toast } from '../../../components/frame/toast.ts'
import { Card } from '../../../components/ui/Card.tsx'
import type { SectionProps } from '../account-data.ts'
import { useAccountWords, useLocale } from '../words.ts'

/** Shows the recoveries of the account that can be stopped or undone, on every page of the account. */
export function RecoveryBanners({ data, onChange }: SectionProps) {
  const onEnd = ({ recoveryLinkId }: OwnRecoveryLink) =>
    onChange((current) => ({
      ...current,
      recoveries: current.recoveries.filter((each) => each.recoveryLinkId !== recoveryLinkId),
    }))
  return (
    <>
      {data.recoveries.map((each) => (
        <RecoveryBanner
          key={each.recoveryLinkId}
          of={each}
          handle={data.session.identities.find(({ identityId }) => identityId === each.identityId)?.handle}
          onEnd={() => onEnd(each)}
        />
      ))}
    </>
  )
}

type Props = { of: OwnRecoveryLink; handle: string | undefined; onEnd: () => void }

function RecoveryBanner({ of: { recoveryLinkId, state, completesAt, holdUntil }, handle, onEnd }: Props) {
  const words = useAccountWords().recovery
  const { language } = useLocale()
  const doing = useActions()
  const params = { recoveryLinkId }
  const isCompleted = state === 'completed'
  const when = (instant: string | null) =>
    instant === null ? '' : formatMomentInSentence(instant, language, new Date())
  const end = async (done: string, work: () => Promise<unknown>) => {
    try {
      await work()
      toast(done)
    } catch (error) {
      // Another tab, a mailed link or the operator was faster.
      if (!(error instanceof ApiError && error.code === 'recovery_link_not_found')) throw error
      toast(words.ended)
    }
    onEnd()
  }
  const stop: Action = {
    name: 'stop-recovery',
    label: isCompleted ? words.undo : words.stop,
    look: 'danger',
    do: () =>
      end(isCompleted ? words.undone : words.stopped, () =>
        call('DELETE /api/account/recovery-links/:recoveryLinkId', { params }),
      ),
  }
  const accept: Action = {
    name: 'accept-recovery',
    label: words.accept,
    look: 'secondary',
    do: () =>
      end(words.accepted, () =>
        withRecentAuthentication(() => call('POST /api/account/recovery-links/:recoveryLinkId/acceptance', { params })),
      ),
  }
  const about = {
    issued: words.issued,
    redeemed: words.redeemed(when(completesAt)),
    completed: words.completed(when(holdUntil)),
  }[state]
  return (
    <Card
      title={words.title(handle === undefined ? '' : atHandle(handle))}
      about={about}
      accent
      class="recovery-banner"
    >
      <Actions of={isCompleted ? [stop, accept] : [stop]} doing={doing} />
    </Card>
  )
}
