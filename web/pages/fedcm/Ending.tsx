import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../components/form/Actions.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { fedcmMessages as en } from '../../locales/en/pages/fedcm.ts'
import { usePageMessages } from '../../components/frame/Root.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { readPageData } from '../../lib/page-data.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/fedcm.ts')).fedcmMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/fedcm.ts')).fedcmMessages)

/** The interface of browsers for identity providers, in the windows that they opened themselves (FedCM §2.4). */
type IdentityProvider = {
  close: () => void
  resolve: (token: string, options: { accountId: string }) => Promise<void>
}

declare global {
  interface Window {
    IdentityProvider?: IdentityProvider
  }
}

export type Outcome = { assertion: string; account: string }

/**
 * Reads the outcome that the sign-in page has put into the fragment, and removes it from the URL, because it is
 * single-use.
 */
function consumeOutcome(): Outcome | undefined {
  const fields = new URLSearchParams(location.hash.slice(1))
  history.replaceState(null, '', location.pathname)
  const [assertion, account] = [fields.get('assertion'), fields.get('account')]
  return assertion !== null && account !== null ? { assertion, account } : undefined
}

/** Gives the assertion to the app. The browser then closes this window. Rejects in any other window. */
async function resolveCredential({ assertion, account }: Outcome): Promise<void> {
  if (!window.IdentityProvider) throw new Error('This browser mediates no sign-ins.')
  await window.IdentityProvider.resolve(assertion, { accountId: account })
}

/**
 * Returns the function that closes the window without a result, so that the browser that opened it gets notified.
 * Undefined in browsers without FedCM. Users close the windows that they opened themselves.
 */
function windowCloser(): (() => void) | undefined {
  return window.IdentityProvider && (() => window.IdentityProvider?.close())
}

type State = 'ending' | 'over' | 'fault'

/** The last page in a window that the browser opened. It closes by itself, and says what to do if it does not. */
export function FedcmResult() {
  const words = usePageMessages({ en, de, ar })
  const { fault } = readPageData('fedcm')
  const doing = useActions()
  const close = windowCloser()
  const [state, setState] = useState<State>(fault === undefined ? 'ending' : 'fault')
  useEffect(() => {
    if (fault === undefined) end().then(setState, () => setState('fault'))
  }, [])
  if (state === 'ending')
    return (
      <PageLayout title={words.ending} step="ending" where>
        <h1>{words.ending}</h1>
        <Spinner />
      </PageLayout>
    )
  const hints: Record<string, string> = words.hints
  const { title, hint } =
    state === 'over'
      ? { title: words.over, hint: words.overHint }
      : { title: words.fault, hint: hints[fault ?? ''] ?? words.hint }
  return (
    <PageLayout title={title} where>
      <span class={state === 'over' ? 'glyph ok' : 'glyph wait'}>
        <Icon name={state === 'over' ? 'circle-check' : 'unplug'} />
      </span>
      <div class="stack tight">
        <h1>{title}</h1>
        <p class="lead">{hint}</p>
      </div>
      {close && <Actions of={[{ name: 'close', label: words.close, look: 'secondary', do: close }]} doing={doing} />}
    </PageLayout>
  )
}

/** Gives the app the assertion if there is one. Otherwise the user has only signed in here, or denied the request. */
async function end(): Promise<State> {
  const outcome = consumeOutcome()
  if (outcome) await resolveCredential(outcome)
  else windowCloser()?.()
  return 'over'
}
