import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../lib/api/call.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { usePlaygroundWords } from './words.ts'
import { Spinner } from '../../components/display/Facts.tsx'
import { readPageData } from '../../lib/page-data.ts'
import { authorizationUrl, createPendingRequest } from './authorization-request.ts'
import { type Callback, requestAssertion, loadPendingRequest, parseCallback, supportsFedcm } from './callback.ts'
import { ErrorDetails, TokenDetails } from './TokenDetails.tsx'
import { type PlaygroundTokens, redeemAssertion, redeemCode, refreshTokens } from './tokens.ts'

const storageKey = 'playground'

export function Playground() {
  const words = usePlaygroundWords()
  const view = readPageData('playground')
  const doing = useActions()
  const [callback, setCallback] = useState(() => takeCallback(view.issuer))
  const [got, setGot] = useState<PlaygroundTokens>()

  /** An error response of the token endpoint is a result to show. Other errors are shown as the page's own. */
  async function get(request: Promise<PlaygroundTokens>) {
    try {
      setGot(await request)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setCallback({ kind: 'refusal', error: error.code, description: error.message })
      setGot(undefined)
    }
  }

  async function begin() {
    const sent = createPendingRequest()
    sessionStorage.setItem(storageKey, JSON.stringify(sent))
    location.assign(await authorizationUrl({ ...view, authUrl: view.site.authUrl }, sent))
  }

  /** Starts the sign-in without leaving this page, if the browser supports FedCM. */
  async function beginHere() {
    const sent = createPendingRequest()
    const assertion = await requestAssertion(view, sent)
    if (assertion === undefined) return setCallback({ kind: 'declined' })
    await get(redeemAssertion(view, assertion, sent))
  }

  useEffect(() => {
    if (callback.kind !== 'code') return
    void doing.perform({ name: 'redeem', do: () => get(redeemCode(view, callback.code, callback.sent)) })
  }, [])

  const start: Action = { name: 'start', label: callback.kind === 'none' ? words.start : words.again, do: begin }
  const here: Action[] = supportsFedcm
    ? [{ name: 'start-here', label: words.startHere, look: 'secondary', do: beginHere }]
    : []
  const isWaiting = callback.kind === 'code' && doing.problem === undefined
  return (
    <PageLayout title={words.title} wide>
      {got ? (
        <TokenDetails
          got={got}
          start={start}
          doing={doing}
          onRefresh={(token) => get(refreshTokens(view, token, got.refreshes + 1))}
        />
      ) : (
        <section class="step">
          <h1>{callback.kind === 'none' || callback.kind === 'code' ? words.title : words.refusedTitle}</h1>
          {callback.kind === 'none' && <Introduction />}
          {callback.kind !== 'none' && callback.kind !== 'code' && <ErrorDetails callback={callback} />}
          {isWaiting ? <Spinner /> : <Actions of={[start, ...here]} doing={doing} />}
        </section>
      )}
    </PageLayout>
  )
}

function Introduction() {
  return (
    <ol class="introduction">
      {usePlaygroundWords().lead.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ol>
  )
}

/** Reads the response in the URL once, and removes it from the address bar, the history and the stored request. */
function takeCallback(issuer: string): Callback {
  const callback = parseCallback(location.search, loadPendingRequest(sessionStorage.getItem(storageKey)), issuer)
  if (callback.kind === 'none') return callback
  sessionStorage.removeItem(storageKey)
  history.replaceState(null, '', location.pathname)
  return callback
}
