import type { AppUsage } from '@countersign/protocol/clients/usage'
import { useRef } from 'preact/hooks'
import { momentOf } from '../../../lib/text/dates.ts'
import { Icon } from '../../../components/ui/Icon.tsx'
import { useLocale } from '../words.ts'
import type { Recipe } from './recipes.ts'

type Props = {
  usage: AppUsage | undefined
  recipe: Pick<Recipe, 'startUrl'>
  /** True if the developer starts the sign-in in a terminal. */
  isCommand: boolean
}

/** Waits for the first sign-in of an app. Turns green when it happened, and explains what went wrong. */
export function FirstSignIn({ usage, recipe: { startUrl }, isCommand }: Props) {
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
            {isCommand ? words.quickstart.followTerminal : words.quickstart.open}{' '}
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
