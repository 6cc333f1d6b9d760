import { useEffect, useState } from 'preact/hooks'
import { Refused } from '../../lib/call.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { usePlaygroundWords } from './words.ts'
import { Waiting } from '../../components/display/Waiting.tsx'
import { readView } from '../../lib/view.ts'
import { authorizationUrl, newSent } from './authorization-request.ts'
import { readCallback, readSent, type Callback } from './callback.ts'
import { askInDialog, hasDialog } from './dialog.ts'
import { Harvest } from './Harvest.tsx'
import { Refusal } from './Refusal.tsx'
import { redeemAssertion, redeemCode, refreshTokens, type Got } from './tokens.ts'

const keptUnder = 'playground'

export function Playground() {
  const words = usePlaygroundWords()
  const view = readView('playground')
  const doing = useDoing()
  const [callback, setCallback] = useState(() => takeCallback(view.issuer))
  const [got, setGot] = useState<Got>()

  /** A refusal of the token endpoint is an answer to show; other failures are the page's. */
  async function get(request: Promise<Got>) {
    try {
      setGot(await request)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      setCallback({ kind: 'refusal', error: error.code, description: error.message })
      setGot(undefined)
    }
  }

  async function begin() {
    const sent = newSent()
    sessionStorage.setItem(keptUnder, JSON.stringify(sent))
    location.assign(await authorizationUrl({ ...view, authUrl: view.site.authUrl }, sent))
  }

  /** The same without leaving this page, where the browser can. */
  async function beginHere() {
    const sent = newSent()
    const assertion = await askInDialog(view, sent)
    if (assertion === undefined) return setCallback({ kind: 'declined' })
    await get(redeemAssertion(view, assertion, sent))
  }

  useEffect(() => {
    if (callback.kind !== 'code') return
    void doing.perform({ name: 'redeem', do: () => get(redeemCode(view, callback.code, callback.sent)) })
  }, [])

  const start: Action = { name: 'start', label: callback.kind === 'none' ? words.start : words.again, do: begin }
  const here: Action[] = hasDialog
    ? [{ name: 'start-here', label: words.startHere, look: 'secondary', do: beginHere }]
    : []
  const isWaiting = callback.kind === 'code' && doing.problem === undefined
  return (
    <Frame title={words.title} wide>
      {got ? (
        <Harvest
          got={got}
          start={start}
          doing={doing}
          onRefresh={(token) => get(refreshTokens(view, token, got.refreshes + 1))}
        />
      ) : (
        <section class="step">
          <h1>{callback.kind === 'none' || callback.kind === 'code' ? words.title : words.refusedTitle}</h1>
          {callback.kind === 'none' && <Introduction />}
          {callback.kind !== 'none' && callback.kind !== 'code' && <Refusal callback={callback} />}
          {isWaiting ? <Waiting /> : <Actions of={[start, ...here]} doing={doing} />}
        </section>
      )}
    </Frame>
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

/** Reads the answer in the address once, and takes it out of the address bar, the history and the kept request. */
function takeCallback(issuer: string): Callback {
  const callback = readCallback(location.search, readSent(sessionStorage.getItem(keptUnder)), issuer)
  if (callback.kind === 'none') return callback
  sessionStorage.removeItem(keptUnder)
  history.replaceState(null, '', location.pathname)
  return callback
}
