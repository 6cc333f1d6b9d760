import type { AppUsage } from '@countersign/protocol/clients/usage'
import { useRef } from 'preact/hooks'
import { momentOf } from '../../../lib/text/dates.ts'
import { Icon } from '../../../components/ui/Icon.tsx'
import { useLocale } from '../words.ts'

type Props = {
  usage: AppUsage | undefined
  /** Where the developer starts the sign-in, if the app listens there. */
  startUrl: string | undefined
  /** What the developer does now. */
  hint: string | undefined
}

/** Waits for the first sign-in of an app. Turns green when it happened, and explains what went wrong. */
export function FirstSignIn({ usage, startUrl, hint }: Props) {
  const { words, language } = useLocale()
  const [latest] = usage?.errors ?? []
  // Errors from before are not what the developer waits for.
  const before = useRef<string>(undefined)
  before.current ??= usage && (latest?.lastAt ?? '')
  const error = latest && latest.lastAt !== before.current ? latest : undefined
  if (!usage) return <p class="waiting-line" role="status" />
  const { lastSignInAt } = usage
  if (lastSignInAt !== null)
    return (
      <p class="waiting-line done" role="status" data-state="signed-in">
        <Icon name="circle-check" />
        <span>
          <strong>{words.quickstart.worked}</strong>{' '}
          <span class="soft">{words.quickstart.lastAt(momentOf(lastSignInAt, language))}</span>
        </span>
      </p>
    )
  return (
    <div class={error ? 'waiting-line failed' : 'waiting-line'} role="status" data-state="waiting">
      {error ? <Icon name="triangle-alert" /> : <span class="pulse" aria-hidden="true" />}
      <div>
        <strong>{error ? words.quickstart.failed : words.quickstart.listening}</strong>{' '}
        {error ? (
          <span>
            <code>{error.error}</code>: {words.usage.reasons[error.error]}
          </span>
        ) : (
          <span class="soft">
            {hint}{' '}
            {startUrl !== undefined && (
              <a href={startUrl} target="_blank" rel="noopener">
                {startUrl.replace(/^https?:\/\//, '')}
              </a>
            )}
          </span>
        )}
      </div>
    </div>
  )
}
