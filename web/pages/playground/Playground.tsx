import type { PlaygroundView } from '@countersign/protocol/pages'
import type { Ref } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { parseSealedFragment } from '@countersign/protocol/formats/encryption/app-key-fragment'
import { ApiError } from '../../lib/api/call.ts'
import { readPageData } from '../../lib/page-data.ts'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { Foot, Letterhead } from '../../components/frame/Letterhead.tsx'
import { useTitle } from '../../components/frame/Frame.tsx'
import { OnDemand } from '../../components/frame/OnDemand.tsx'
import { RouteLink } from '../../components/frame/route.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { authorizationUrl, createPendingRequest } from './authorization-request.ts'
import { type Callback, type PendingRequest, requestAssertion, loadPendingRequest, parseCallback } from './callback.ts'
import { Delegation } from './steps/Delegation.tsx'
import { Identity } from './steps/Identity.tsx'
import { SignIn } from './steps/SignIn.tsx'
import { SignText } from './steps/SignText.tsx'
import {
  type DelegatedCall,
  type PlaygroundTokens,
  callCalendar,
  redeemAssertion,
  redeemCode,
  refreshTokens,
} from './tokens.ts'
import {
  loadTour,
  noteStorageKey,
  stepOf,
  type Tour,
  tourSteps,
  type TourStep,
  withDone,
  withIdentity,
} from './tour.ts'
import { usePlaygroundWords } from './words.ts'
import { formatNumber } from '../../lib/text/dates.ts'

const requestKey = 'playground'
const tourKey = 'playground-tour'

const loadCipher = () => import('./encryption/note-cipher.ts')
const loadEncryption = async () => (await import('./encryption/Encryption.tsx')).Encryption

/** A key for encryption that its user's passkey has unlocked, and the user's username. */
export type NoteKey = { key: CryptoKey; handle: string }

/** What the steps use of the demonstration app. */
export type DemoApp = {
  view: PlaygroundView
  tour: Tour
  /** The tokens of the last sign-in, as long as this page is open. */
  got: PlaygroundTokens | undefined
  delegated: DelegatedCall | undefined
  /** The key for notes, until the page is closed or forgets it. It is stored nowhere. */
  noteKey: NoteKey | undefined
  /** What came back instead of a code. */
  callback: Callback
  doing: ActionState
  isRedeeming: boolean
  begin: (step: TourStep, more?: Record<string, string>) => Promise<void>
  /** Signs in without leaving this page, if the browser supports FedCM. */
  beginHere: () => Promise<void>
  refresh: (refreshToken: string) => Promise<void>
  complete: (step: TourStep) => void
  forgetNoteKey: () => void
}

/** A tour of what an app gets: each step does it, shows what came back, and the code that does the same. */
export function Playground() {
  const words = usePlaygroundWords()
  useTitle(words.title)
  const app = useDemoApp()
  const [step, setStep] = useStep(app.callback)
  const heading = useFocusOfStep(step)
  const restart = () => {
    for (const key of [tourKey, requestKey, noteStorageKey]) sessionStorage.removeItem(key)
    location.assign(location.pathname)
  }
  const { developers, authUrl } = app.view.site
  return (
    <>
      <Letterhead
        end={
          <>
            <a class="button ghost guides" href={`${authUrl}/help`}>
              {words.guides}
            </a>
            {developers && (
              <a class="button" href="/developers">
                {words.registerApp}
              </a>
            )}
          </>
        }
      />
      <main id="main" class="tour">
        <Rail current={step} tour={app.tour} onFollow={setStep} />
        <div class="tour-main" key={step}>
          <div class="stack tight">
            <p class="soft small">{words.position(tourSteps.indexOf(step) + 1, tourSteps.length)}</p>
            <h2 ref={heading} tabIndex={-1} class="section-title">
              {words.steps[step].heading}
            </h2>
            <p class="lead">{words.steps[step].lead}</p>
          </div>
          {step === 'sign-in' && <SignIn app={app} />}
          {step === 'identity' && <Identity app={app} />}
          {step === 'signature' && <SignText app={app} />}
          {step === 'delegation' && <Delegation app={app} />}
          {step === 'encryption' && <OnDemand load={loadEncryption} given={{ app }} />}
          {!app.isRedeeming && (
            <Ways step={step} isDone={app.tour.done.includes(step)} onFollow={setStep} onRestart={restart} />
          )}
        </div>
      </main>
      <Foot />
    </>
  )
}

/** Focuses the heading of another step, if what had the focus belonged to the step before. */
function useFocusOfStep(step: TourStep): Ref<HTMLHeadingElement> {
  const heading = useRef<HTMLHeadingElement>(null)
  const focused = useRef(step)
  useEffect(() => {
    if (focused.current === step) return
    focused.current = step
    if (document.activeElement === document.body) heading.current?.focus()
  }, [step])
  return heading
}

/** The step in the fragment of the URL. A response of the service leads to the step that requested it. */
function useStep(callback: Callback): [TourStep, (step: TourStep) => void] {
  const returned = callback.kind === 'code' ? callback.sent.step : undefined
  const [step, setStep] = useState(() => tourSteps.find((each) => each === returned) ?? stepOf(location.hash))
  useEffect(() => {
    const follow = () => setStep(stepOf(location.hash))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return [
    step,
    (next) => {
      history.pushState(null, '', `#${next}`)
      setStep(next)
      scrollTo(0, 0)
    },
  ]
}

/** An error response of the token endpoint is a result to show. Other errors are shown as the page's own. */
function refusalOf(error: unknown): Callback {
  if (!(error instanceof ApiError)) throw error
  return { kind: 'refusal', error: error.code, description: error.message }
}

async function leaveToSignIn(view: PlaygroundView, step: TourStep, more?: Record<string, string>): Promise<void> {
  const sent = createPendingRequest(step)
  sessionStorage.setItem(requestKey, JSON.stringify(sent))
  location.assign(await authorizationUrl({ ...view, authUrl: view.site.authUrl }, sent, more))
}

/** Returns the tour, and a function that changes what this tab stores of it. */
function useTour(): [Tour, (change: (tour: Tour) => Tour) => void] {
  const [tour, setTour] = useState(() => loadTour(sessionStorage.getItem(tourKey)))
  const keep = (change: (tour: Tour) => Tour) =>
    setTour((before) => {
      const next = change(before)
      sessionStorage.setItem(tourKey, JSON.stringify(next))
      return next
    })
  return [tour, keep]
}

function useDemoApp(): DemoApp {
  const view = readPageData('playground')
  const doing = useActions()
  const [callback, setCallback] = useState(() => takeCallback(view.issuer))
  const [got, setGot] = useState<PlaygroundTokens>()
  const [delegated, setDelegated] = useState<DelegatedCall>()
  const [noteKey, setNoteKey] = useState<NoteKey>()
  const [tour, keep] = useTour()
  const orRefusal = <Result,>(request: Promise<Result>): Promise<Result | undefined> =>
    request.catch((error) => {
      setCallback(refusalOf(error))
      return undefined
    })

  async function get(request: Promise<PlaygroundTokens>) {
    const result = await orRefusal(request)
    setGot(result)
    if (!result) return
    const { sub, name, preferred_username: handle } = result.userinfo
    keep((before) => withIdentity(before, { sub, name: name ?? '', handle: handle ?? '' }))
  }

  async function act(code: string, sent: PendingRequest) {
    const result = await orRefusal(callCalendar(view, code, sent))
    setDelegated(result)
    if (result) keep((before) => withDone(before, 'delegation'))
  }

  async function takeKey(code: string, sent: PendingRequest, sealedKey = '') {
    const { openKey } = await loadCipher()
    const key = await openKey(sealedKey)
    if (!key) return setCallback({ kind: 'wrongKey' })
    const result = await orRefusal(redeemCode({ ...view, ...view.notes }, code, sent))
    if (result) setNoteKey({ key, handle: result.userinfo.preferred_username ?? '' })
  }

  useEffect(() => {
    if (callback.kind !== 'code') return
    const { code, sent, sealedKey } = callback
    const redeem = () => {
      if (sent.step === 'delegation') return act(code, sent)
      return sent.step === 'encryption' ? takeKey(code, sent, sealedKey) : get(redeemCode(view, code, sent))
    }
    void doing.perform({ name: 'redeem', do: redeem })
  }, [])

  return {
    view,
    tour,
    got,
    delegated,
    noteKey,
    callback,
    doing,
    isRedeeming: callback.kind === 'code' && !got && !delegated && !noteKey && doing.problem === undefined,
    begin: (step, more) => leaveToSignIn(view, step, more),
    async beginHere() {
      const sent = createPendingRequest()
      const assertion = await requestAssertion(view, sent)
      if (assertion === undefined) return setCallback({ kind: 'declined' })
      await get(redeemAssertion(view, assertion, sent))
    },
    refresh: (refreshToken) => get(refreshTokens(view, refreshToken, (got?.refreshes ?? 0) + 1)),
    complete: (step) => keep((before) => withDone(before, step)),
    forgetNoteKey() {
      setNoteKey(undefined)
      setCallback({ kind: 'none' })
    },
  }
}

type RailProps = { current: TourStep; tour: Tour; onFollow: (step: TourStep) => void }

function Rail({ current, tour, onFollow }: RailProps) {
  const words = usePlaygroundWords()
  return (
    <div class="tour-rail">
      <h1>{words.heading}</h1>
      <ol class="tour-steps">
        {tourSteps.map((step, index) => {
          const isDone = tour.done.includes(step)
          return (
            <li key={step} class={isDone ? 'done' : undefined}>
              <a
                href={`#${step}`}
                aria-current={step === current ? 'step' : undefined}
                onClick={(event) => {
                  event.preventDefault()
                  onFollow(step)
                }}
              >
                <span class="dot">{isDone ? <Icon name="check" size="sm" /> : formatNumber(index + 1)}</span>
                <span>
                  <strong>{words.steps[step].name}</strong>
                  <small>{isDone ? words.done : words.steps[step].short}</small>
                </span>
              </a>
            </li>
          )
        })}
      </ol>
    </div>
  )
}

type WaysProps = { step: TourStep; isDone: boolean; onFollow: (step: TourStep) => void; onRestart: () => void }

function Ways({ step, isDone, onFollow, onRestart }: WaysProps) {
  const words = usePlaygroundWords()
  const at = tourSteps.indexOf(step)
  const before = tourSteps[at - 1]
  const next = tourSteps[at + 1]
  return (
    <div class="row apart ways">
      <span class="row">
        {before && (
          <RouteLink class="button" action="previous-step" href={`#${before}`} onFollow={() => onFollow(before)}>
            <Icon name="arrow-left" size="sm" class="flips" />
            {words.back}
          </RouteLink>
        )}
        <button type="button" class="button ghost" data-action="restart" onClick={onRestart}>
          {words.restart}
        </button>
      </span>
      {next && (
        <RouteLink
          class={isDone ? 'button primary' : 'button'}
          action="next-step"
          href={`#${next}`}
          onFollow={() => onFollow(next)}
        >
          {words.next(words.steps[next].name)}
          <Icon name="arrow-right" size="sm" class="flips" />
        </RouteLink>
      )}
    </div>
  )
}

/**
 * Reads the response in the URL once, with the key in its fragment. Removes both from the address bar, the history and
 * the stored request.
 */
function takeCallback(issuer: string): Callback {
  const callback = parseCallback(location.search, loadPendingRequest(sessionStorage.getItem(requestKey)), issuer)
  if (callback.kind === 'none') return callback
  const sealedKey = parseSealedFragment(location.hash.slice(1))
  sessionStorage.removeItem(requestKey)
  history.replaceState(null, '', location.pathname)
  return callback.kind === 'code' ? { ...callback, sealedKey } : callback
}
